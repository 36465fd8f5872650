import type { ProcessContext } from "./process-context.ts";

/** Of what a service gives a handler to settle, at most half of it: for what a command says last, and for the service's own end. */
const KEPT_MS = 5_000;

/**
 * How long a command has from a stop to SIGKILL. A handler that is not over after the service's own time is ended with its slot, and the others
 * in it begin again: a command is given no more than leaves time before.
 *
 * @param serviceMs `STOP_TIMEOUT_MS`, which a service tells its slots; where nobody tells it, or it is empty, no slot is ended
 */
export function stopTimeOf(
  { params: { stopTimeoutMs }, log }: Pick<ProcessContext, "params" | "log">,
  serviceMs = process.env["STOP_TIMEOUT_MS"] ?? "",
): number {
  if (serviceMs.trim() === "") return stopTimeoutMs;
  const mostMs = Math.floor(Number(serviceMs) - Math.min(KEPT_MS, Number(serviceMs) / 2));
  if (stopTimeoutMs <= mostMs) return stopTimeoutMs;
  log.warn("its command has less time for a stop than stopTimeoutMs says, as its service has no more", {
    stopTimeoutMs,
    givenMs: mostMs,
    serviceStopTimeoutMs: Number(serviceMs),
  });
  return mostMs;
}
