import type { BrokenFile, ErrorText, TaskId, TaskInput } from "@unacked/contracts";
import type { Attempt, AttemptedRun, AttemptHost, BatchMember } from "../../wire/attempt.ts";
import type { Late } from "../../wire/late.ts";
import type { Catalogue } from "../../wire/messages.ts";

/** A run whose handler is started here: an observer's (live-run.ts), or a task's (keeper/tasks). */
export interface HandledRun extends AttemptedRun {
  readonly start: AttemptedRun["start"] & { readonly params: unknown; readonly retry: { readonly resetAfterMs: number } };
  /** For a task: the number of this attempt. */
  readonly taskAttempt?: number;
  /** For a task: how it is named if it has ended its slot. Without an id it is one call for many tasks. */
  readonly toldAs?: { readonly id?: TaskId; readonly type: string };
  /** For a task of a flow: the results of the tasks that it comes after. */
  readonly inputs?: readonly TaskInput[] | undefined;
  /** For a batch of tasks: its tasks. */
  readonly members?: readonly BatchMember[];
  /** For a batch: whether this task is one of those that were given to its call. */
  isMember?(taskId: string): boolean;
}

/** What a run learns about its handler, beyond what its attempt reports. */
export interface HandlerHost<Run extends HandledRun = HandledRun> extends AttemptHost<Run> {
  /** The params do not match the type's schema, so no handler was started. */
  onBadParams(run: Run, error: ErrorText): void;
  /**
   * The run has a slot, for which it may have waited, and its handler begins. Not called for a run that is put behind
   * another.
   */
  onPlaced?(run: Run): void;
  /** The handler has gone with its slot, through no fault of its own. */
  onInterrupted(run: Run, why: Interruption): void;
  /** For a run that was put behind another: it will not begin, as it was aborted or recalled while it waited, or its slot has gone. */
  onNotBegun?(run: Run): void;
  /** The handler has to end, and begin again elsewhere, through no fault of its own. */
  onMoved(run: Run, why: Interruption): void;
  /**
   * There is newer code, so the handler has to end, and begin again with that. Absent means that it ends with its old code.
   */
  onRenewed?(run: Run): void;
}

/** The outcome of loading the folder again. */
export type Reload =
  /** The old code stays in use. `broken` lists the files at fault, if these are known. */
  | { readonly kind: "refused"; readonly why: string; readonly broken: readonly BrokenFile[] }
  /** The code has not changed. Slots with other code, if there were any, have been replaced. */
  | { readonly kind: "unchanged" }
  /** The types whose code has changed, by how. */
  | { readonly kind: "loaded"; readonly changed: string[]; readonly added: string[]; readonly gone: string[] };

/** An observer that runs older code than there is. */
export interface Outdated {
  /** Whether a slot is ready for it. */
  readonly isReady: boolean;
  /** Whether it needs a slot of its own. */
  readonly isApart: boolean;
  /** Makes it begin again. */
  begin(): void;
}

/** Why a run has to begin again. */
export interface Interruption {
  readonly detail: string;
}

/** Where handlers run: in this process (`local-handlers.ts`), or in slots (`keeper/slots`). */
export interface Handlers {
  readonly catalogue: Catalogue;
  /** Called with what handlers do after their end, which is logged already: for a part that keeps runs' lines. */
  onLate?: ((late: Late) => void) | undefined;
  /** What is wrong with a run's params, if that can be decided without running the author's code in a separate process. */
  checkParams(run: HandledRun): ErrorText | undefined;
  /** Why the run has to wait: it needs a slot of its own, and there may be no more of them now. */
  noRoomFor(run: HandledRun): string | undefined;
  /**
   * The same for a task, which does not wait for long: another reason is that no slot has its type, and none is about to.
   */
  noSlotFor(run: HandledRun): string | undefined;
  start(host: HandlerHost, run: HandledRun): Attempt;
  /**
   * Puts this run behind another that was started, or put behind one itself. It begins where that one ran, as soon as that has settled,
   * without a further order. Undefined means that it has to be started when its time has come.
   */
  startBehind(host: HandlerHost, run: HandledRun, other: Attempt): Attempt | undefined;
  /** Keeps a run alone in its slot from now on, as it has ended a slot or a service before. */
  keepAlone(run: HandledRun): void;
  /** Forgets the run: nothing more comes of it here. */
  forget(run: HandledRun): void;
  /** Surely ends what still runs of these. False means that only the end of this process does. */
  endForCertain(runs: readonly HandledRun[]): boolean;
  /** Until when handlers may go on, in ms of `performance.now()`. Undefined means that there is no lease. */
  leaseHeldUntil(deadlineMs: number | undefined, graceMs: number): void;
  /** Whether silence is not counted now, as the broker takes nothing. */
  holdSilence(isHeld: boolean): void;
  /** Loads the folder again. Handlers that start from then on use the new code. Calls never overlap. */
  reload(): Promise<Reload>;
  /** Who still runs by older code. @param isPatient whether all new slots are still waited for */
  outdated(isPatient: boolean): Outdated[];
  /** Ends what still runs. Resolves when its traces are sent, or after `limitMs`. */
  close(limitMs: number): Promise<void>;
}
