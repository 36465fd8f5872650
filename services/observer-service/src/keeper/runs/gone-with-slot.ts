import type { Log } from "../../log.ts";
import type { StopCause } from "../../wire/stop-cause.ts";

/**
 * What the log says of a run whose slot has gone: that it begins again, unless it was told to end before. By then its slot may have been ended
 * for it, as it did not.
 *
 * @param cause what it was told before
 */
export function logGoneWithSlot(log: Log, what: "run" | "task", cause: StopCause | undefined, why: string): void {
  if (cause === undefined || cause.kind === "moved" || cause.kind === "restarted") {
    const whose = cause?.kind === "restarted" ? "as it was told to" : "through no fault of its own";
    return log.warn({ event: `${what}-interrupted`, why }, `the ${what} begins again, ${whose}`);
  }
  const end = cause.kind === "uncaught" ? "its attempt has failed" : "it ends as it was told to";
  log.warn({ event: `${what}-gone-with-slot`, why }, `its slot was ended before it had: ${end}`);
}
