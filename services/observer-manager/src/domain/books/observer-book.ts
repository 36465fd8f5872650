import type { ErrorText, ObserverId, ObserverStatus, Pending, RunEndReason, RunId } from "@unacked/contracts";

/** An update that a run has rejected, and what it runs on with. */
export interface Rejection {
  specVersion: number;
  reason: string;
  /** The time is by its service's clock. */
  atMs: number;
  keeps: { specVersion: number; params: unknown };
}

/** The part of an observer's row that decisions need. */
export interface ObserverBook {
  readonly id: ObserverId;
  readonly type: string;
  status: ObserverStatus;
  /** What is under way beside the status. */
  pending: Pending | null;
  revision: number;
  /** The version of the spec that is wanted. */
  specVersion: number;
  /** The lowest version with which a run is as wanted: nothing that was changed after it has to reach a run. */
  neededSpecVersion: number;
  /** The message of the present revision has this version, or a later one. */
  sentSpecVersion: number;
  rejectedUpdate: Rejection | null;
  /** The pool as it is wanted. */
  pool: string;
  /** The pool whose queue has its message, where that is another pool, or where a forced delete has left the message behind. */
  messagePool: string | null;
  /** The manager's count of the observer's runs. */
  runNumber: number;
  /** The highest fencing token that a run of it was given; null: none was. */
  fencingToken: number | null;
  currentRunId: RunId | null;
  /** The run that waits for its admission. */
  requestedRunId: RunId | null;
  attempts: number;
  /** What the batch that is read now has told is whole. Of an error that stands in the books only the name is loaded. */
  lastError: ErrorText | Pick<ErrorText, "name"> | null;
  /** Since when its run has had no beat, by its service's clock, if it is silent. */
  silentSinceMs: number | null;
  /** The time until the next attempt, counted from the moment the books are written; null when no attempt is awaited. */
  nextAttemptInMs: number | null;
  /** Milliseconds of PostgreSQL's clock when it was loaded. */
  readonly clockMs: number;
  /** Its time to start had not come when it was loaded. */
  readonly startsLater: boolean;
  /** How long the row had been as it was when it was loaded, by PostgreSQL's clock. */
  readonly unchangedForMs: number;
  /** How often its handler began again, in this very batch. */
  restarts?: number;
  /** Why it lost its run in this very batch. */
  lostRunBy?: RunEndReason;
}
