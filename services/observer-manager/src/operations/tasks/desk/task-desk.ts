import {
  type ChangeTask,
  type CreateTask,
  isTaskOver,
  type TaskBulkCount,
  type TaskId,
  type TaskPage,
  type TaskView,
} from "@unacked/contracts";
import type { Actor } from "../../../domain/access/identity.ts";
import { newAction } from "../../access/audit.ts";
import { encodeTaskCursor } from "../../cursor.ts";
import type { Refusal } from "../../refusal.ts";
import { sizeOfParams, Together } from "../../together.ts";
import type { Waits } from "../../waits.ts";
import {
  type CreationTypes,
  checkCreations,
  heldAgain,
  isChange,
  keyTaken,
  ofFlow,
  outcomesOf,
} from "../creations/creation-check.ts";
import type { InsertOutcome } from "../creations/insert-outcome.ts";
import { isNew, withId } from "../creations/new-ids.ts";
import type { Creation } from "../creations/new-task.ts";
import { insertAtOnce, type SenderAtOnce } from "../dispatch/insert-at-once.ts";
import type { TaskBulkChange, TaskCreateOutcome, TaskOutcome, TaskTools } from "../task-tools.ts";
import type { UnwantedSend } from "../unwanted-send.ts";
import { changeMany } from "./task-bulk.ts";
import type { TaskBulkStore } from "./task-bulk-store.ts";
import type { TaskQuery, TaskStore } from "./task-store.ts";

export interface TaskDeskParts {
  store: TaskStore;
  types: CreationTypes;
  bulk: TaskBulkStore;
  waits: Waits<TaskId>;
  /** Something may be due. */
  wake(): void;
  /** Default: nothing is sent before it is claimed. */
  sender?: SenderAtOnce;
  /** Somebody has cancelled what runs, or what these services may yet be given. */
  cancelled(refuse: UnwantedSend[]): void;
}

/** How many single requests share a transaction when many arrive at once; fewer where their params are long. */
const MAX_TOGETHER = 1_000;

const sizeOfAll = (tasks: Creation[]): number => tasks.reduce((sum, { task }) => sum + sizeOfParams(task.params), 0);

const insertTogether = (insert: TaskStore["insert"]): Together<Creation[], InsertOutcome[]> =>
  new Together({
    maxSize: MAX_TOGETHER,
    sizeOf: (tasks) => (tasks.length >= MAX_TOGETHER ? tasks.length : sizeOfAll(tasks)),
    run: async (together) => {
      const outcomes = await insert(together.flat());
      let next = 0;
      return together.map((tasks) => outcomes.slice(next, (next += tasks.length)));
    },
  });

/** Somebody has to look for a task that was not sent at once. */
const leavesSome = (outcome: InsertOutcome): boolean =>
  isChange(outcome) && !(outcome.kind === "created" && outcome.sendId !== null);

export class TaskDesk implements TaskTools {
  readonly #parts: TaskDeskParts;
  readonly #insertNew: Together<Creation[], InsertOutcome[]>;
  /** These may wait for whoever has the id, or the key, of one of them; what has neither does not wait with them. */
  readonly #insertChosen: Together<Creation[], InsertOutcome[]>;
  readonly #insertKeyed: Together<Creation[], InsertOutcome[]>;

  constructor(parts: TaskDeskParts) {
    this.#parts = parts;
    this.#insertNew = insertTogether((tasks) => insertAtOnce(parts, tasks));
    this.#insertChosen = insertTogether((tasks) => insertAtOnce(parts, tasks));
    this.#insertKeyed = insertTogether((tasks) => parts.store.insert(tasks));
  }

  async createTasks(requests: (CreateTask | Refusal)[], by: Actor, { areShown = true } = {}): Promise<TaskCreateOutcome[]> {
    const action = newAction("task.create", by);
    const checked = await checkCreations(this.#parts.types, requests);
    const tasks = checked.flatMap((one) => ("kind" in one ? [] : [{ task: withId(one), action, isShown: areShown }]));
    const inserted = tasks.length === 0 ? [] : await this.#insertFor(tasks).do(tasks);
    if (inserted.some(leavesSome)) this.#parts.wake();
    const outcomes = outcomesOf(checked, inserted);
    return outcomes.length === 1 ? Promise.all(outcomes.map((one) => this.#inFull(one))) : outcomes;
  }

  #insertFor(tasks: readonly Creation[]): Together<Creation[], InsertOutcome[]> {
    if (tasks.some(({ task }) => task.key !== undefined)) return this.#insertKeyed;
    return tasks.every(({ task }) => isNew(task)) ? this.#insertNew : this.#insertChosen;
  }

  /** One that is asked for alone is shown whole, whoever shared its transaction. */
  async #inFull(outcome: TaskCreateOutcome): Promise<TaskCreateOutcome> {
    if (outcome.kind === "problem" || outcome.isShort !== true) return outcome;
    const task = await this.#parts.store.find(outcome.id);
    return task === undefined ? outcome : { ...outcome, task: () => task };
  }

  findTask(id: TaskId, waitMs: number, gone: AbortSignal): Promise<TaskView | undefined> {
    const { store, waits } = this.#parts;
    return waits.found(id, waitMs, { find: () => store.find(id), isOver: ({ status }) => isTaskOver(status) }, gone);
  }

  async listTasks(query: TaskQuery): Promise<TaskPage> {
    const { last, ...page } = await this.#parts.store.list(query);
    return { ...page, nextCursor: last === undefined ? null : encodeTaskCursor(last) };
  }

  changeTasks(change: TaskBulkChange, by: Actor): Promise<TaskBulkCount> {
    const { bulk: store, waits, wake } = this.#parts;
    const cancelled = (over: TaskId[], refuse: UnwantedSend[]): void => {
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
    if (outcome.kind === "held-up") return heldAgain(id, outcome.key);
    if (outcome.kind === "of-flow") return ofFlow(outcome.flowId);
    return { kind: "problem", code: outcome.kind === "not-found" ? "task-not-found" : "task-not-retryable" };
  }
}
