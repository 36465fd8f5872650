import { ObserverStopped } from "@unacked/sdk";
import { asError } from "../error-text.ts";
import { type StopCause, stopCodeOf, stopTextOf } from "../wire/stop-cause.ts";

/** Errors that nobody threw, whose occurrence says everything. */
const SAYS_ITSELF: ReadonlySet<string> = new Set(["TaskTimeoutError", "SilentError"]);

/**
 * What the signal of a handler is aborted with. Without a stack: it would show the inside of this service, and takes longer than all else
 * when thousands are stopped.
 *
 * @param uncaught as it was thrown, where that was here
 */
export function stopReason(cause: StopCause, uncaught?: unknown): ObserverStopped {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const code = stopCodeOf(cause);
    if (cause.kind !== "uncaught") return new ObserverStopped(code, stopTextOf(cause));
    const { error } = cause;
    const message = SAYS_ITSELF.has(error.name) ? error.message : undefined;
    return new ObserverStopped(code, message, { cause: uncaught ?? asError(error) });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
