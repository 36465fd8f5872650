import type { BrokenFile, ErrorText, TaskId, TaskInput } from "@unacked/contracts";
import type { Attempt, AttemptedRun, AttemptHost, BatchMember } from "../../wire/attempt.ts";
import type { Late } from "../../wire/late.ts";
import type { Catalogue } from "../../wire/messages.ts";

/** A run whose handler is started here: of an observer (live-run.ts), or of a task (keeper/tasks). */
export interface HandledRun extends AttemptedRun {
  readonly start: AttemptedRun["start"] & { readonly params: unknown; readonly retry: { readonly resetAfterMs: number } };
  /** Only of a task: how often it has been tried, this time included. */
  readonly taskAttempt?: number;
  /** Only of a task: as what it is told that it has ended its slot; without an id it is one call for many. */
  readonly toldAs?: { readonly id?: TaskId; readonly type: string };
  /** Only of a task of a flow: what it comes after. */
  readonly inputs?: readonly TaskInput[] | undefined;
  /** Only of a batch of tasks. */
  readonly members?: readonly BatchMember[];
  /** Only of a batch: whether this task is one of those that were given to its call. */
  isMember?(taskId: string): boolean;
}

/** What a run learns of its handler, beyond what its attempt does. */
export interface HandlerHost<Run extends HandledRun = HandledRun> extends AttemptHost<Run> {
  /** The params do not pass the type's schema: no handler was started. */
  onBadParams(run: Run, error: ErrorText): void;
  /** It has its place, for which it may have waited: its handler begins. Not of one that is put behind another. */
  onPlaced?(run: Run): void;
  /** The handler has gone with its slot, through no fault of its own. */
  onInterrupted(run: Run, why: Interruption): void;
  /** Only of one that was put behind another: it waited there, was aborted or recalled or its slot has gone, and it will not begin. */
  onNotBegun?(run: Run): void;
  /** The handler is to end, and to begin again elsewhere, through no fault of its own. */
  onMoved(run: Run, why: Interruption): void;
  /** There is newer code than what it runs by: it is to end, and to begin again by that. Absent: it ends as it is. */
  onRenewed?(run: Run): void;
}

/** What has become of loading the folder again. */
export type Reload =
  /** The old code stays in use. `broken`: the files at fault, where these are known. */
  | { readonly kind: "refused"; readonly why: string; readonly broken: readonly BrokenFile[] }
  /** Its code is what it was. Slots with other code, if there are any, have been replaced. */
  | { readonly kind: "unchanged" }
  /** Types by what has become of their code. */
  | { readonly kind: "loaded"; readonly changed: string[]; readonly added: string[]; readonly gone: string[] };

/** An observer that runs by older code than there is. */
export interface Outdated {
  /** A slot waits for it. */
  readonly isReady: boolean;
  /** It needs one that is not everybody's. */
  readonly isApart: boolean;
  /** Has it begin again. */
  begin(): void;
}

/** Why a run has to begin again. */
export interface Interruption {
  readonly detail: string;
}

/** Where handlers run: in this process (`local-handlers.ts`), or in slots (`keeper/slots`). */
export interface Handlers {
  readonly catalogue: Catalogue;
  /** Told of what handlers do after their end, which is logged already: for who keeps what runs have said. */
  onLate?: ((late: Late) => void) | undefined;
  /** What is wrong with a run's params, where that can be said without running an author's code in a process of its own. */
  checkParams(run: HandledRun): ErrorText | undefined;
  /** Why it has to wait: it needs a slot of its own, and there may be no more of them now. */
  noRoomFor(run: HandledRun): string | undefined;
  /** The same of a task, which does not wait for long: also that no slot has its type, and none is about to. */
  noSlotFor(run: HandledRun): string | undefined;
  start(host: HandlerHost, run: HandledRun): Attempt;
  /**
   * Has one run that was started, or put there, run first; then this one begins at once, where that one ran, and without a word of its own: it runs from the moment at
   * which the one before it has settled. Undefined: it is to be started when its time has come.
   */
  startBehind(host: HandlerHost, run: HandledRun, other: Attempt): Attempt | undefined;
  /** It has ended a slot or a service before: nobody else is to be in its slot. */
  keepAlone(run: HandledRun): void;
  /** Nothing more comes of it here. */
  forget(run: HandledRun): void;
  /** Ends for certain what still runs of these. False: only the end of this process does. */
  endForCertain(runs: readonly HandledRun[]): boolean;
  /** Until when what runs may go on, in ms of `performance.now()`; undefined: no lease. */
  leaseHeldUntil(deadlineMs: number | undefined, graceMs: number): void;
  /** Whether silence counts for nobody now: the broker takes nothing. */
  holdSilence(isHeld: boolean): void;
  /** Loads the folder again; what starts from then on runs by what it holds. Never two at a time. */
  reload(): Promise<Reload>;
  /** Who still runs by older code. @param isPatient whether all new slots are still waited for */
  outdated(isPatient: boolean): Outdated[];
  /** Ends what still runs; resolves when what it traced is sent, after `limitMs` at the latest. */
  close(limitMs: number): Promise<void>;
}
