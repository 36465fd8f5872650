import type { TracingLog } from "./tracing.ts";

/** The most different texts; the rest is about the same, or not worth a disk. */
const MAX_SAID = 20;

/**
 * Logs what the SDK says about itself (a variable with a wrong value, spans dropped since there are too many): each text once,
 * its numbers aside. Addresses are shown without what stands before an `@`.
 */
export class SdkComplaints {
  readonly #log: TracingLog;
  readonly #said = new Set<string>();

  constructor(log: TracingLog) {
    this.#log = log;
  }

  take(message: string): void {
    const kind = message.replaceAll(/\d+/g, "0").slice(0, 500);
    if (this.#said.has(kind) || this.#said.size >= MAX_SAID) return;
    this.#said.add(kind);
    const detail = message.replaceAll(/\/\/[^/\s@]*@/g, "//").slice(0, 500);
    this.#log.warn({ event: "tracing-complaint", detail }, "a message of OpenTelemetry (each is logged once)");
  }
}
