import {
  type CreateTask,
  MAX_BULK,
  MAX_FAILURES,
  MAX_FAILURES_OF_TYPE,
  type RetryFailures,
  type TaskBulkCount,
  type TaskFailureGroup,
  type TaskFailureGroups,
  type TaskId,
} from "@unacked/contracts";
import type { Actor } from "../../../domain/access/identity.ts";
import { errorGroupOf } from "../../../domain/errors/error-group.ts";
import { checksOfCall } from "../../../domain/types/params-check.ts";
import { newAction } from "../../access/audit.ts";
import { heldAgain, keyTaken, ofFlow, poolTypes, refusalOf } from "../creations/creation-check.ts";
import type { TaskTypeStore } from "../creations/task-type-store.ts";
import type { TaskFailureTools, TaskOutcome, TaskTools } from "../task-tools.ts";
import type { AlikeFailures, FailedTask, FailureFilter, TaskFailureStore } from "./task-failure-store.ts";

export interface TaskFailureDeskParts {
  store: TaskFailureStore;
  types: TaskTypeStore;
  tasks: Pick<TaskTools, "changeTasks">;
  /** Something may be due. */
  wake(): void;
}

const groupOf = ({ name, message }: { name: string; message: string }): string => errorGroupOf(`${name}: ${message}`);

/** What is Failed, by what went wrong, and how it is mended. */
export class TaskFailureDesk implements TaskFailureTools {
  readonly #parts: TaskFailureDeskParts;

  constructor(parts: TaskFailureDeskParts) {
    this.#parts = parts;
  }

  async groupTaskFailures(of: FailureFilter): Promise<TaskFailureGroups> {
    const alike = await this.#parts.store.alike(of, MAX_FAILURES + 1);
    const groups = new Map<string, AlikeFailures[]>();
    for (const one of alike) {
      const key = `${one.type} ${groupOf(one)}`; // a type has no blank
      groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    const items = [...groups.values()].map(toGroup).toSorted((a, b) => b.count - a.count || (a.group < b.group ? -1 : 1));
    const looked = items.reduce((sum, { count }) => sum + count, 0);
    return { items, total: items.length, isComplete: looked <= MAX_FAILURES };
  }

  async retryTaskFailures({ type, group, dryRun }: RetryFailures, by: Actor): Promise<TaskBulkCount> {
    const { ids, more } = await this.#newestOf(type, group);
    if (ids.length === 0) return { matched: 0, accepted: 0, more };
    const { tasks } = this.#parts;
    const count = await tasks.changeTasks({ kind: "retry", ids, failures: { type, group }, all: false, dryRun }, by);
    return { ...count, more };
  }

  /** As many of a group as one call takes. Others may be older than all that one call looks at. */
  async #newestOf(type: string, group: string): Promise<{ ids: TaskId[]; more: boolean }> {
    const ids: TaskId[] = [];
    let last: FailedTask | undefined;
    for (let looked = 0; looked < MAX_FAILURES_OF_TYPE && ids.length <= MAX_BULK; looked += MAX_FAILURES) {
      const errors = await this.#parts.store.errorsOf(type, MAX_FAILURES, last);
      for (const error of errors) if (groupOf(error) === group) ids.push(error.id);
      if (errors.length < MAX_FAILURES) return { ids: ids.slice(0, MAX_BULK), more: ids.length > MAX_BULK };
      last = errors.at(-1);
    }
    return { ids: ids.slice(0, MAX_BULK), more: true };
  }

  async retryTaskWith(id: TaskId, params: unknown, by: Actor): Promise<TaskOutcome> {
    const { store, types, wake } = this.#parts;
    const task = await store.find(id);
    if (task === undefined) return { kind: "problem", code: "task-not-found" };
    const live = await poolTypes(types, task.pool);
    // With no living service of the pool nothing can be checked, as at a create.
    const refusal = refusalOf({ ...task, params } as unknown as CreateTask, live, checksOfCall());
    if (refusal !== undefined) return refusal;
    const outcome = await store.retryWith(id, params, newAction("task.retry", by, { editedParams: true }));
    if (outcome.kind === "key-taken") return keyTaken(outcome.winner);
    if (outcome.kind === "held-up") return heldAgain(id, outcome.key);
    if (outcome.kind === "of-flow") return ofFlow(outcome.flowId);
    if (outcome.kind !== "retried")
      return { kind: "problem", code: outcome.kind === "not-found" ? "task-not-found" : "task-not-retryable" };
    wake();
    return { kind: "accepted", task: outcome.task };
  }
}

function toGroup(alike: AlikeFailures[]): TaskFailureGroup {
  const newest = alike.reduce((best, one) => (one.newestAtMs > best.newestAtMs ? one : best));
  const { type, name, message } = newest;
  const times = (of: (one: AlikeFailures) => Date) => alike.map((one) => of(one).getTime());
  return {
    type,
    group: groupOf(newest),
    count: alike.reduce((sum, { count }) => sum + count, 0),
    firstEndedAt: new Date(Math.min(...times((one) => one.firstEndedAt))).toISOString(),
    lastEndedAt: new Date(Math.max(...times((one) => one.lastEndedAt))).toISOString(),
    example: { id: newest.newestId, lastError: { name, message } },
  };
}
