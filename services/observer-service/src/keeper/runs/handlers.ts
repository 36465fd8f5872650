import type { ErrorText, TaskInput } from "@unacked/contracts";
import type { Attempt, AttemptedRun, AttemptHost, BatchMember } from "../../wire/attempt.ts";
import type { Catalogue } from "../../wire/messages.ts";

/** A run whose handler is started here: of an observer (live-run.ts), or of a task (keeper/tasks). */
export interface HandledRun extends AttemptedRun {
  readonly start: AttemptedRun["start"] & { readonly params: unknown; readonly retry: { readonly resetAfterMs: number } };
  /** Only of a task: how often it has been tried, this time included. */
  readonly taskAttempt?: number;
  /** Only of a task of a flow: what it comes after. */
  readonly inputs?: readonly TaskInput[] | undefined;
  /** Only of a batch of tasks. */
  readonly members?: readonly BatchMember[];
}

/** What a run learns of its handler, beyond what its attempt does. */
export interface HandlerHost<Run extends HandledRun = HandledRun> extends AttemptHost<Run> {
  /** The params do not pass the type's schema: no handler was started. */
  onBadParams(run: Run, error: ErrorText): void;
  /** The handler has gone with its slot, through no fault of its own. */
  onInterrupted(run: Run, why: Interruption): void;
  /** The handler is to end, and to begin again elsewhere, through no fault of its own. */
  onMoved(run: Run, why: Interruption): void;
}

/** Why a run has to begin again. */
export interface Interruption {
  readonly detail: string;
}

/** Where handlers run: in this process (`local-handlers.ts`), or in slots (`keeper/slots`). */
export interface Handlers {
  readonly catalogue: Catalogue;
  /** What is wrong with a run's params, where that can be said without running an author's code in a process of its own. */
  checkParams(run: HandledRun): ErrorText | undefined;
  /** Why it has to wait: it needs a slot of its own, and there may be no more of them now. */
  noRoomFor(run: HandledRun): string | undefined;
  start(host: HandlerHost, run: HandledRun): Attempt;
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
  /** Ends what still runs; resolves when what it traced is sent, after `limitMs` at the latest. */
  close(limitMs: number): Promise<void>;
}
