import {
  type CreateTask,
  type FieldProblem,
  isTaskOver,
  newTaskId,
  type TaskBulkCount,
  type TaskId,
  type TaskPage,
  type TaskView,
} from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { checkParams } from "../../domain/types/params-check.ts";
import { type Action, newAction } from "../access/audit.ts";
import { encodeTaskCursor } from "../cursor.ts";
import type { Refusal } from "../refusal.ts";
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
    const checked = await this.#check(requests);
    const tasks = checked.flatMap((one) => ("kind" in one ? [] : [{ task: { ...one, id: one.id ?? newTaskId() }, action }]));
    const inserted = tasks.length === 0 ? [] : await this.#insert(tasks);
    // Also of what was queued: a claim passes over a row that is locked just then.
    if (inserted.some((one) => "task" in one && one.kind !== "exists" && one.kind !== "returned")) this.#parts.wake();
    let next = 0;
    return checked.map((one) => {
      if ("kind" in one) return one;
      const outcome = inserted[next++] as InsertOutcome;
      if (outcome.kind === "taken") return { kind: "problem", code: "id-taken" };
      return outcome.kind === "key-taken" ? keyTaken(outcome.winner) : outcome;
    });
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

  async retryTask(id: TaskId, by: Actor): Promise<TaskOutcome> {
    const outcome = await this.#parts.store.retry(id, newAction("task.retry", by));
    if (outcome.kind === "retried") {
      this.#parts.wake();
      return { kind: "accepted", task: outcome.task };
    }
    if (outcome.kind === "key-taken") return keyTaken(outcome.winner);
    return { kind: "problem", code: outcome.kind === "not-found" ? "task-not-found" : "task-not-retryable" };
  }

  /** With no living service of the pool nothing can be checked, and a task may wait for one. */
  async #check(requests: (CreateTask | Refusal)[]): Promise<(CreateTask | Refusal)[]> {
    const pools = [...new Set(requests.flatMap((one) => ("kind" in one ? [] : [one.pool])))];
    const live = new Map<string, Awaited<ReturnType<TaskTypeStore["liveTypes"]>>>();
    for (const pool of pools) live.set(pool, await this.#parts.types.liveTypes(pool));
    return requests.map((request) => {
      if ("kind" in request) return request;
      const { services = 0, types = [], outside = [] } = live.get(request.pool) ?? {};
      return services === 0 ? request : (refusalOf(request, types, outside) ?? request);
    });
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

const keyTaken = (taskId: TaskId): Refusal => ({ kind: "problem", code: "key-taken", taskId });

/** Whether a living service of its pool takes it. */
export function refusalOf(
  { type, params, pool }: CreateTask,
  types: { type: string; paramsSchema: Record<string, unknown> }[],
  outside: string[],
): Refusal | undefined {
  const candidates = types.filter((info) => info.type === type);
  if (candidates.length === 0) {
    if (outside.includes(type)) return undefined;
    const knownTypes = [...new Set(types.map((info) => info.type))].toSorted();
    const detail = `No live service of the pool "${pool}" knows the task type "${type}"`;
    return { kind: "problem", code: "unknown-type", detail, knownTypes };
  }
  // During a rolling deploy two versions of a type live side by side: good for one is good.
  const problems = candidates.map((info) => checkParams(info.paramsSchema, params));
  if (problems.some((errors) => errors.length === 0)) return undefined;
  return { kind: "problem", code: "invalid-body", errors: problems[0] as FieldProblem[] };
}
