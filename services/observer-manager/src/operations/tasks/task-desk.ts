import {
  type ChangeTask,
  type CreateTask,
  isTaskOver,
  newTaskId,
  type TaskBulkCount,
  type TaskId,
  type TaskPage,
  type TaskView,
} from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { type Action, newAction } from "../access/audit.ts";
import { encodeTaskCursor } from "../cursor.ts";
import type { Refusal } from "../refusal.ts";
import { checkCreations, isChange, keyTaken, outcomesOf } from "./creation-check.ts";
import { changeMany } from "./task-bulk.ts";
import type {
  InsertOutcome,
  NewTask,
  TaskBulkStore,
  TaskQuery,
  TaskStore,
  TaskTypeStore,
  UnwantedAttempt,
} from "./task-store.ts";
import type { TaskBulkChange, TaskCreateOutcome, TaskOutcome, TaskTools } from "./task-tools.ts";
import type { TaskWaits } from "./task-waits.ts";

export interface TaskDeskParts {
  store: TaskStore;
  types: TaskTypeStore;
  bulk: TaskBulkStore;
  waits: TaskWaits;
  /** Something may be due. */
  wake(): void;
  /** Somebody has cancelled what runs, or what these services may yet be given. */
  cancelled(refuse: UnwantedAttempt[]): void;
}

interface Submission {
  tasks: { task: NewTask; action: Action }[];
  resolve(outcomes: InsertOutcome[]): void;
  reject(error: unknown): void;
}

/** How many single requests share a transaction when many arrive at once. */
const MAX_TOGETHER = 1_000;

export class TaskDesk implements TaskTools {
  readonly #parts: TaskDeskParts;
  #waiting: Submission[] = [];
  #isBusy = false;

  constructor(parts: TaskDeskParts) {
    this.#parts = parts;
  }

  async createTasks(requests: (CreateTask | Refusal)[], by: Actor): Promise<TaskCreateOutcome[]> {
    const action = newAction("task.create", by);
    const checked = await checkCreations(this.#parts.types, requests);
    const tasks = checked.flatMap((one) => ("kind" in one ? [] : [{ task: { ...one, id: one.id ?? newTaskId() }, action }]));
    const inserted = tasks.length === 0 ? [] : await this.#insert(tasks);
    if (inserted.some(isChange)) this.#parts.wake();
    return outcomesOf(checked, inserted);
  }

  async findTask(id: TaskId, waitMs: number): Promise<TaskView | undefined> {
    const { store, waits } = this.#parts;
    const task = await store.find(id);
    if (task === undefined || waitMs === 0 || isTaskOver(task.status)) return task;
    const over = waits.until(id, waitMs);
    // It may have ended before anybody waited.
    const now = await store.find(id);
    if (now === undefined || isTaskOver(now.status)) {
      waits.over([id]);
      return now;
    }
    await over;
    return store.find(id);
  }

  async listTasks(query: TaskQuery): Promise<TaskPage> {
    const { last, ...page } = await this.#parts.store.list(query);
    return { ...page, nextCursor: last === undefined ? null : encodeTaskCursor(last) };
  }

  changeTasks(change: TaskBulkChange, by: Actor): Promise<TaskBulkCount> {
    const { bulk: store, waits, wake } = this.#parts;
    const cancelled = (over: TaskId[], refuse: UnwantedAttempt[]): void => {
      waits.over(over);
      this.#parts.cancelled(refuse);
    };
    return changeMany({ store, wake, cancelled }, change, by);
  }

  async cancelTask(id: TaskId, by: Actor): Promise<TaskOutcome> {
    const { store, waits, cancelled } = this.#parts;
    const outcome = await store.cancel(id, newAction("task.cancel", by));
    switch (outcome.kind) {
      case "over":
        waits.over([id]);
        cancelled(outcome.refuse);
        return { kind: "over", task: outcome.task };
      case "ordered":
        cancelled(outcome.refuse);
        return { kind: "accepted", task: outcome.task };
      case "was-over":
        return { kind: "problem", code: "task-over" };
      case "not-found":
        return { kind: "problem", code: "task-not-found" };
      default:
        return outcome satisfies never;
    }
  }

  async changeTask(id: TaskId, change: ChangeTask, by: Actor): Promise<TaskOutcome> {
    const outcome = await this.#parts.store.change(id, change, newAction("task.change", by, { ...change }));
    if (outcome.kind === "changed") return { kind: "accepted", task: outcome.task };
    return { kind: "problem", code: outcome.kind === "not-found" ? "task-not-found" : "task-over" };
  }

  async retryTask(id: TaskId, by: Actor): Promise<TaskOutcome> {
    const outcome = await this.#parts.store.retry(id, newAction("task.retry", by));
    if (outcome.kind === "retried") {
      this.#parts.wake();
      return { kind: "accepted", task: outcome.task };
    }
    if (outcome.kind === "key-taken") return keyTaken(outcome.winner);
    return { kind: "problem", code: outcome.kind === "not-found" ? "task-not-found" : "task-not-retryable" };
  }

  #insert(tasks: Submission["tasks"]): Promise<InsertOutcome[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ tasks, resolve, reject });
      if (!this.#isBusy) void this.#work();
    });
  }

  /** Requests that arrive while a transaction is under way share the next one. */
  async #work(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.length > 0) {
      const together: Submission[] = [];
      for (let size = 0; this.#waiting[0] !== undefined; ) {
        size += this.#waiting[0].tasks.length;
        if (together.length > 0 && size > MAX_TOGETHER) break;
        together.push(this.#waiting.shift() as Submission);
      }
      await this.#insertTogether(together);
    }
    this.#isBusy = false;
  }

  async #insertTogether(submissions: Submission[]): Promise<void> {
    try {
      const outcomes = await this.#parts.store.insert(submissions.flatMap(({ tasks }) => tasks));
      let next = 0;
      for (const { tasks, resolve } of submissions) resolve(outcomes.slice(next, (next += tasks.length)));
    } catch (error) {
      for (const { reject } of submissions) reject(error);
    }
  }
}
