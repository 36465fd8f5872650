import type { ErrorText } from "@unacked/contracts";
import type { Log } from "../../log.ts";
import type { TaskRun } from "./task-run.ts";

/**
 * How many tasks of one turn of the event loop are logged one by one. More are one line with their number, and why the first one
 * failed.
 */
const ONE_BY_ONE = 5;

/** Logs which tasks have failed for good, and why: if params do not pass, no handler logs anything. */
export class FailedTasks {
  readonly #log: Log;
  #failed: { run: TaskRun; error: ErrorText | undefined }[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  note(run: TaskRun, error: ErrorText | undefined): void {
    if (this.#failed.length === 0) setImmediate(() => this.#write(this.#failed.splice(0)));
    this.#failed.push({ run, error });
  }

  #write(failed: { run: TaskRun; error: ErrorText | undefined }[]): void {
    if (failed.length > ONE_BY_ONE) {
      const tasks = failed.slice(0, ONE_BY_ONE).map(({ run }) => run.task.taskId);
      const fields = { event: "tasks-failed", count: failed.length, ids: tasks, error: whyOf(failed[0]?.error) };
      return this.#log.warn(fields, `${failed.length} tasks have failed for good`);
    }
    for (const { run, error } of failed)
      run.log.warn({ event: "task-failed", attempts: run.taskAttempt, error: whyOf(error) }, "the task has failed for good");
  }
}

/** The stack is in the line of the handler that threw. */
const whyOf = (error: ErrorText | undefined): Pick<ErrorText, "name" | "message"> | undefined =>
  error && { name: error.name, message: error.message };
