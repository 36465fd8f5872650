import { thrownText } from "../../error-text.ts";
import type { Log } from "../../log.ts";
import type { TaskTypeEntry } from "../../wire/messages.ts";
import type { StopCause } from "../../wire/stop-cause.ts";
import type { HandlerHost, Handlers } from "../runs/handlers.ts";
import type { RoomWait } from "./room-wait.ts";
import { TaskBatch } from "./task-batch.ts";
import { badParams, memberEnd, type TaskFate } from "./task-end.ts";
import type { TaskFates } from "./task-fates.ts";
import type { TaskRun } from "./task-run.ts";
import type { TimeLimits } from "./time-limits.ts";

export type HandlerBasics = Pick<HandlerHost, "publish" | "stopTimeoutMs" | "tracing" | "tailOf">;

export interface TaskBatchesParts {
  readonly handlers: Handlers;
  readonly types: ReadonlyMap<string, TaskTypeEntry>;
  readonly holds: (generation: number) => boolean;
  readonly fates: TaskFates;
  readonly basics: HandlerBasics;
  readonly roomWait: RoomWait;
  readonly timeLimits: TimeLimits;
  /** The task runs from now on. */
  readonly begun: (run: TaskRun) => void;
  readonly stop: (run: TaskRun, cause: StopCause) => void;
  readonly end: (run: TaskRun, fate: TaskFate) => void;
  readonly log: Log;
}

/** Calls for many tasks. The outcome of a call is that of each of its tasks that has not ended, unless it reported another. */
export class TaskBatches {
  readonly #parts: TaskBatchesParts;
  /** The call of each task that shares one. */
  readonly #calls = new Map<TaskRun, TaskBatch>();
  readonly #host: HandlerHost<TaskBatch>;

  constructor(parts: TaskBatchesParts) {
    this.#parts = parts;
    const { basics, fates, timeLimits, end } = parts;
    const endEach = (batch: TaskBatch, fateOfOne: (run: TaskRun) => TaskFate): void => {
      for (const run of [...batch.left]) end(run, fateOfOne(run));
    };
    this.#host = {
      ...basics,
      onPlaced: (batch) => {
        this.#begun(batch);
        timeLimits.begin(batch, (one, cause) => this.#stop(one, cause));
      },
      onSettled: (batch, outcome, word = {}) =>
        endEach(batch, (run) => {
          if (batch.hasNoSlot) return fates.withoutSlot(run);
          return fates.settled(run, memberEnd(outcome, word, run.task.taskId));
        }),
      onUncaught: (batch, error, isFinal) => this.#stop(batch, { kind: "uncaught", error: thrownText(error), isFinal }),
      onStuck: (batch) => batch.log.warn({ event: "task-ignores-abort" }, "the handler of a batch ignores its abort"),
      onBadParams: (batch, error) => endEach(batch, () => badParams(error)),
      onInterrupted: (batch, { detail }) => {
        batch.log.warn({ event: "task-interrupted", why: detail }, "the tasks of a batch go back, to be sent one by one");
        endEach(batch, (run) => fates.interrupted(run, detail));
      },
      onMoved: (batch, { detail: why }) => this.#stop(batch, { kind: "moved", why }),
    };
  }

  of(run: TaskRun): TaskBatch | undefined {
    return this.#calls.get(run);
  }

  /** Makes as few calls as `size` allows. */
  divide(type: string, runs: readonly TaskRun[], size: number): TaskBatch[] {
    const batches: TaskBatch[] = [];
    for (let i = 0; i < runs.length; i += size) {
      const batch = new TaskBatch(type, runs.slice(i, i + size), this.#parts.log);
      for (const run of batch.left) this.#calls.set(run, batch);
      batches.push(batch);
    }
    return batches;
  }

  /** The call has its worker. */
  begin(batch: TaskBatch): void {
    const { handlers, types, holds, roomWait, end } = this.#parts;
    const type = types.get(batch.start.type);
    for (const run of [...batch.left]) {
      if (!holds(run.message.generation)) end(run, { kind: "release", isOurs: false });
      else if (type === undefined) end(run, { kind: "end", fact: { outcome: "unknown-type" } });
      // The folder was loaded again while these waited, so they are sent one by one.
      else if (type.batch === undefined) end(run, { kind: "return", isRedelivered: false });
      else run.isRunning = true; // otherwise it waits in the slots' own line
    }
    if (batch.left.size === 0) return;
    if (roomWait.begin(batch)) this.#begun(batch);
    batch.attempt = handlers.start(this.#host, batch);
  }

  /**
   * Its handler runs. This was not reported while it waited for a slot. Tasks that were cancelled meanwhile are not given to it.
   */
  #begun(batch: TaskBatch): void {
    for (const run of batch.left) if (run.beganMs === 0 && run.cause === undefined) this.#parts.begun(run);
  }

  /** The task has ended. @returns whether it was the last of its call */
  leave(run: TaskRun, batch: TaskBatch): boolean {
    this.#calls.delete(run);
    return batch.left.delete(run) && batch.left.size === 0;
  }

  #stop(batch: TaskBatch, cause: StopCause): void {
    for (const run of [...batch.left]) this.#parts.stop(run, cause);
  }
}
