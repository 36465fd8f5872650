import { newRunId, type ObserverId, type RunId } from "@unacked/contracts";
import type { Log } from "../../log.ts";
import type { Attempt, BatchMember } from "../../wire/attempt.ts";
import { isStronger, type StopCause } from "../../wire/stop-cause.ts";
import type { HandledRun } from "../runs/handlers.ts";
import type { TaskRun } from "./task-run.ts";

const NO_LABELS = Object.freeze({});
const RETRY = Object.freeze({ resetAfterMs: 600_000 });

/** One call for many tasks of a type, each of which has a message, a run and an end of its own. Slots treat it as one run. */
export class TaskBatch implements HandledRun {
  readonly runId: RunId = newRunId();
  readonly start: HandledRun["start"];
  readonly log: Log;
  readonly taskAttempt = 1;
  readonly #taskIds: ReadonlySet<string>;
  /** The tasks that have not ended. */
  readonly left: Set<TaskRun>;
  attempt: Attempt | undefined;
  /** Whether it has waited for a slot for too long, and has not begun. */
  hasNoSlot = false;
  timer: NodeJS.Timeout | undefined;
  /** Why the whole call was told to end. */
  #cause: StopCause | undefined;

  /** @param runs of one type */
  constructor(type: string, runs: readonly TaskRun[], log: Log) {
    this.left = new Set(runs);
    this.#taskIds = new Set(runs.map(({ task }) => task.taskId));
    this.log = log.child({ type, runId: this.runId, tasks: runs.length });
    const id = this.runId as string as ObserverId;
    this.start = {
      observerId: id,
      name: `${runs.length} tasks of ${type}`,
      type,
      labels: NO_LABELS,
      params: null,
      retry: RETRY,
    };
  }

  get toldAs(): { type: string } {
    return { type: this.start.type };
  }

  /** The tasks that the handler gets, without those that were cancelled meanwhile. */
  get members(): BatchMember[] {
    const wanted = [...this.left].filter(({ cause }) => cause === undefined);
    return wanted.map(({ task: { taskId, params, inputs }, taskAttempt: attempt }) => ({
      taskId,
      params,
      attempt,
      ...(inputs !== undefined && { inputs }),
    }));
  }

  isMember(taskId: string): boolean {
    return this.#taskIds.has(taskId);
  }

  /** Ends one of them, and with it the call if it was the last that somebody wants. */
  stop(run: TaskRun, cause: StopCause): void {
    const isWanted = [...this.left].some((one) => one.cause === undefined);
    if (isWanted) return this.attempt?.abortMember?.(run.task.taskId, cause);
    if (this.#cause !== undefined && !isStronger(cause, this.#cause)) return;
    this.#cause = cause;
    this.attempt?.abort(cause);
  }
}
