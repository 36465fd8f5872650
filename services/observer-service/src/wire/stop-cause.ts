import type { ErrorText, RunStopReason } from "@unacked/contracts";
import type { StopCode } from "@unacked/sdk";

/**
 * Why a run is told to end before its handler ended by itself. `superseded` is not a cause: a run that still holds its
 * message answers RunHeld, and one that does not has lost its lease. Nor is `taken-back`, which is the loss of the lease of
 * all runs.
 */
export type StopCause =
  /** `isFinal`: for a task, a retry would not help. */
  | { kind: "uncaught"; error: ErrorText; isFinal?: boolean | undefined }
  /** Somebody asked for it, or its code is newer (`why`). */
  | { kind: "restarted"; why?: string }
  /** It begins again elsewhere in this service, through no fault of its own. */
  | { kind: "moved"; why: string }
  | { kind: "draining" }
  /** Others are to have it. */
  | { kind: "shed" }
  /** The folder was loaded again, and does not have its type any more. */
  | { kind: "type-gone" }
  | { kind: "stopped" | Exclude<RunStopReason, "superseded" | "taken-back"> }
  | { kind: "lease-lost" };

/** Why a run is moved. On a busy machine a slot may hear of a proof of life only after the deadline of the one before has passed. */
export const FENCED_BY_SLOT = "its slot regarded the lease as over, before its service did";

/** A later cause replaces an earlier one only if it is stronger; among equals the first one stays. */
export function isStronger(later: StopCause, earlier: StopCause): boolean {
  return strength(later) > strength(earlier);
}

/** Whether neither its handler nor a successor goes on with its message. */
export const endsForGood = ({ kind }: StopCause): boolean => kind !== "uncaught" && kind !== "moved" && kind !== "restarted";

/** Whether the cause counts, whatever the handler's outcome was. If not, one that had completed before it heard of it stays so. */
export function hasTheLastWord(cause: StopCause): boolean {
  switch (cause.kind) {
    case "draining":
    case "shed":
    case "type-gone":
    case "moved":
      return false;
    case "restarted":
      return cause.why === undefined; // somebody wants it to begin again
    case "uncaught":
    case "stopped":
    case "duplicate":
    case "obsolete":
    case "not-wanted":
    case "unknown":
    case "lease-lost":
      return true;
    default:
      return cause satisfies never;
  }
}

function strength(cause: StopCause): number {
  switch (cause.kind) {
    case "uncaught":
      return 1;
    case "moved":
      return 2;
    case "restarted":
      return 3;
    case "shed":
    case "type-gone":
    case "draining":
      return 4;
    case "stopped":
    case "duplicate":
    case "obsolete":
    case "not-wanted":
    case "unknown":
      return 5;
    case "lease-lost":
      return 6;
    default:
      return cause satisfies never;
  }
}

/** The code of the signal's reason, as the handler sees it. */
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
    case "moved":
    case "shed":
    case "type-gone":
      return "restarted";
    case "restarted":
    case "draining":
    case "stopped":
    case "lease-lost":
      return cause.kind;
    default:
      return cause satisfies never;
  }
}

/** The message of the signal's reason, as the handler sees it, if the code does not say everything. */
export function stopTextOf(cause: StopCause): string | undefined {
  switch (cause.kind) {
    case "moved":
      return `it is moved: ${cause.why}`;
    case "restarted":
      return cause.why === undefined ? undefined : `it begins again: ${cause.why}`;
    case "shed":
      return "it is moved: another service is to have it";
    case "type-gone":
      return "it is given back: the folder of its service has its type no more";
    case "not-wanted":
      return "it was stopped: by the books it is not to run any more";
    case "unknown":
      return "it was stopped: the books do not know it";
    case "uncaught":
    case "duplicate":
    case "obsolete":
    case "draining":
    case "stopped":
    case "lease-lost":
      return undefined;
    default:
      return cause satisfies never;
  }
}
