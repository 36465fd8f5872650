import { type CreatedTask, isTaskOver, type TaskView } from "@unacked/contracts";
import type { Calls } from "./calls.ts";
import { TaskCancelled, TaskFailed, TaskNotOver } from "./task-errors.ts";
import { untilOver, type WaitOptions } from "./until-over.ts";

/** One task, wherever it runs. */
export class TaskHandle<Output = unknown> {
  readonly id: string;
  /**
   * What became of the create: a new task, or the one that had its id or key. Undefined if this client did not create it.
   */
  readonly outcome: CreatedTask["outcome"] | undefined;
  readonly #calls: Calls;

  constructor(calls: Calls, id: string, outcome?: CreatedTask["outcome"]) {
    this.#calls = calls;
    this.id = id;
    this.outcome = outcome;
  }

  get(signal?: AbortSignal): Promise<TaskView> {
    return this.#calls.call("getTask", { path: { taskId: this.id } }, signal);
  }

  /** Cancels the task at once if it does not run; a running one is told to end. Refused (`task-over`) when it is over. */
  cancel(signal?: AbortSignal): Promise<TaskView> {
    return this.#calls.call("cancelTask", { path: { taskId: this.id } }, signal);
  }

  /**
   * Takes the task back from a worker outside that is dead, as if its lease were over: an interruption. Refused (`task-not-taken`) when no such
   * worker has it.
   */
  takeBack(signal?: AbortSignal): Promise<TaskView> {
    return this.#calls.call("takeBackTask", { path: { taskId: this.id } }, signal);
  }

  /**
   * Waits for the task's end, also over a restart of the manager, and returns its handler's output. Rejects with {@link TaskFailed} or
   * {@link TaskCancelled}, with {@link TaskNotOver} after `timeoutMs`, with the reason of `signal`, and with a {@link CallError} if
   * waiting is useless: the caller may not, or the task is not known (any more).
   */
  async result(options: WaitOptions = {}): Promise<Output> {
    const awaited = {
      calls: this.#calls,
      look: (wait: string, signal: AbortSignal) =>
        this.#calls.call("getTask", { path: { taskId: this.id }, query: { wait } }, signal),
      isOver: ({ status }: TaskView) => isTaskOver(status),
      notOver: (seen: TaskView | undefined, timeoutMs: number, cause: unknown) =>
        new TaskNotOver(this.id, seen, timeoutMs, cause),
    };
    const task = await untilOver(awaited, options);
    if (task.status === "Failed") throw new TaskFailed(task);
    if (task.status === "Cancelled") throw new TaskCancelled(task);
    return task.output as Output;
  }
}
