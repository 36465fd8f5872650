import type { TaskView } from "@unacked/contracts";

/** The task is Failed: its attempts are used up, or its error was not retryable. `lastError` says why. */
export class TaskFailed extends Error {
  override readonly name = "TaskFailed";
  readonly task: TaskView;
  readonly lastError: TaskView["lastError"];

  constructor(task: TaskView) {
    super(`task ${task.id} of the type ${task.type} is Failed${whyOf(task)}`);
    this.task = task;
    this.lastError = task.lastError;
  }
}

/** Somebody has cancelled the task. `lastError` is the error of an earlier attempt, if one failed. */
export class TaskCancelled extends Error {
  override readonly name = "TaskCancelled";
  readonly task: TaskView;
  readonly lastError: TaskView["lastError"];

  constructor(task: TaskView) {
    super(`task ${task.id} of the type ${task.type} is Cancelled${whyOf(task)}`);
    this.task = task;
    this.lastError = task.lastError;
  }
}

/** `timeoutMs` is over, but the task goes on. `task` is how it was last seen, if it was. */
export class TaskNotOver extends Error {
  override readonly name = "TaskNotOver";
  readonly task: TaskView | undefined;

  constructor(id: string, task: TaskView | undefined, timeoutMs: number, cause: unknown) {
    const how = task === undefined ? "has not been seen" : `is still ${task.status}`;
    const why = task?.waitsFor ? `, and waits for: ${task.waitsFor}` : "";
    super(`task ${id} ${how} after ${timeoutMs} ms${why}`, cause === undefined ? {} : { cause });
    this.task = task;
  }
}

const whyOf = ({ lastError }: TaskView): string => (lastError === null ? "" : `: ${lastError.name}: ${lastError.message}`);
