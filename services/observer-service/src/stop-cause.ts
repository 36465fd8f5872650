import type { ErrorText, RunStopReason } from "@unacked/contracts";
import type { StopCode } from "@unacked/sdk";

/**
 * Why a run is made to end before its handler ended by itself. `superseded` is no cause: a run that still holds its
 * message answers RunHeld, and one that does not has lost its lease.
 */
export type StopCause =
  | { kind: "uncaught"; error: ErrorText }
  | { kind: "restarted" }
  | { kind: "draining" }
  | { kind: "stopped" | Exclude<RunStopReason, "superseded"> }
  | { kind: "lease-lost" };

/** A later cause takes over from an earlier one only if it is stronger; among equals the first one stays. */
export function isStronger(later: StopCause, earlier: StopCause): boolean {
  return strength(later) > strength(earlier);
}

function strength(cause: StopCause): number {
  switch (cause.kind) {
    case "uncaught":
      return 1;
    case "restarted":
      return 2;
    case "draining":
      return 3;
    case "stopped":
    case "duplicate":
    case "obsolete":
    case "not-wanted":
    case "unknown":
      return 4;
    case "lease-lost":
      return 5;
    default:
      return cause satisfies never;
  }
}

/** What the handler sees as the code of its signal's reason. */
export function stopCodeOf(cause: StopCause): StopCode {
  switch (cause.kind) {
    case "uncaught":
      return "failed";
    case "duplicate":
    case "obsolete":
      return "superseded";
    case "not-wanted":
    case "unknown":
      return "stopped";
    case "restarted":
    case "draining":
    case "stopped":
    case "lease-lost":
      return cause.kind;
    default:
      return cause satisfies never;
  }
}
