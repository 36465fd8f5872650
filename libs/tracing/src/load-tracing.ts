import type { Tracing, TracingOptions } from "./tracing.ts";
import { tracingWish } from "./tracing-wish.ts";

/**
 * Starts tracing if the environment asks for it. Only then is OpenTelemetry loaded. Whatever is wrong with it is said in one
 * line: no program fails to start because it cannot be traced.
 *
 * @returns undefined: nothing is traced
 */
export async function loadTracing(options: TracingOptions): Promise<Tracing | undefined> {
  const { log } = options;
  const wish = tracingWish(process.env); // the SDK reads it there as well
  if (wish.kind === "off") return undefined;
  if (wish.kind === "unsupported") {
    log.warn({ event: "tracing-off", problem: wish.problem }, `nothing is traced: ${wish.problem}`);
    return undefined;
  }
  try {
    const { startOpenTelemetry } = await import("./open-telemetry.ts");
    const tracing = await startOpenTelemetry(options, wish.protocol);
    log.info({ event: "tracing", protocol: wish.protocol }, "traces are sent by OTLP");
    return tracing;
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    log.warn({ event: "tracing-off", problem }, "nothing is traced: OpenTelemetry could not be started");
    return undefined;
  }
}
