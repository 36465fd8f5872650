import { MAX_BULK, type TaskBulkCount, type TaskId } from "@unacked/contracts";
import type { Actor } from "../../../domain/access/identity.ts";
import { newAction } from "../../access/audit.ts";
import type { TaskBulkChange } from "../task-tools.ts";
import type { UnwantedSend } from "../unwanted-send.ts";
import type { TaskBulkStore } from "./task-bulk-store.ts";

/** One transaction changes so many: what they lock is free again soon. */
const AT_ONCE = 500;

export interface TaskBulkParts {
  store: TaskBulkStore;
  wake(): void;
  /** These are over; and these services may yet be given one. */
  cancelled(over: TaskId[], refuse: UnwantedSend[]): void;
}

/**
 * Comes in: what is to become of many tasks. Guarantees: at most MAX_BULK of them, in transactions of AT_ONCE, with one entry of the
 * audit trail. A crash in the middle leaves what was accepted, with that entry; the same call does the rest.
 */
export async function changeMany(parts: TaskBulkParts, change: TaskBulkChange, by: Actor): Promise<TaskBulkCount> {
  const { store, wake, cancelled } = parts;
  const { kind, ids, filter, all, failures, dryRun } = change;
  const target = ids === undefined ? { ...filter, statuses: filter?.status } : { ids };
  const found = await store.find(kind, target, MAX_BULK + 1);
  const matching = found.slice(0, MAX_BULK);
  const count = { matched: matching.length, accepted: 0, more: found.length > MAX_BULK };
  if (dryRun) return { ...count, accepted: matching.length };
  const action = newAction(`task.${kind}`, by, { filter, all: all || undefined, ...failures });
  for (let i = 0; i < matching.length; i += AT_ONCE) {
    const some = matching.slice(i, i + AT_ONCE);
    if (kind === "retry") {
      count.accepted += await store.retryMany(some, target, action);
      wake();
      continue;
    }
    const { accepted, over, refuse } = await store.cancelMany(some, target, action);
    count.accepted += accepted;
    cancelled(over, refuse);
  }
  return count;
}
