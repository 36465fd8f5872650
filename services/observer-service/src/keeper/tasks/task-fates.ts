import type { TaskTypeEntry } from "../../wire/messages.ts";
import { type AttemptEnd, fateOf, fateOfInterrupted, type TaskFate, type TaskLimits } from "./task-end.ts";
import type { TaskRun } from "./task-run.ts";

/** The retry of a type that this service does not have; no task of it fails here. */
const NO_RETRY = { maxAttempts: 10, initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 };

/** Decides what becomes of attempts, by the limits of their types. */
export class TaskFates {
  readonly #types: ReadonlyMap<string, TaskTypeEntry>;

  constructor(types: ReadonlyMap<string, TaskTypeEntry>) {
    this.#types = types;
  }

  /** The handler has settled. */
  settled(run: TaskRun, end: Omit<AttemptEnd, "cause">): TaskFate {
    return fateOf({ ...end, cause: run.cause }, this.#limitsOf(run), Math.random());
  }

  /** The handler has not begun, or is gone. @param slotEnd how its slot ended, if it was that */
  interrupted(run: TaskRun, slotEnd?: string): TaskFate {
    return fateOfInterrupted(run.cause, this.#limitsOf(run), Math.random(), slotEnd);
  }

  /** There was no slot for the task, and it has not begun. */
  withoutSlot(run: TaskRun): TaskFate {
    return run.cause === undefined ? { kind: "return", isRedelivered: false, noSlot: true } : this.interrupted(run);
  }

  #limitsOf({ task }: TaskRun): TaskLimits {
    const retry = this.#types.get(task.type)?.retry ?? NO_RETRY;
    return { failures: task.failures, maxAttempts: task.maxAttempts, retry };
  }
}
