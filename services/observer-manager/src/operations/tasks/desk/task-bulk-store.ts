import type { TaskId } from "@unacked/contracts";
import type { Action } from "../../access/audit.ts";
import type { UnwantedSend } from "../unwanted-send.ts";
import type { TaskQuery } from "./task-store.ts";

/** Which tasks a bulk change is about. */
export type TaskTarget = { ids: TaskId[] } | Pick<TaskQuery, "statuses" | "type" | "pool">;

/** Changes of many tasks, in the database. No call leaves a transaction open; all reject while it is away. */
export interface TaskBulkStore {
  /** The first of those that may be cancelled, or retried. */
  find(kind: "cancel" | "retry", target: TaskTarget, limit: number): Promise<TaskId[]>;
  /** Ends those of these that still match and do not run; those that run are to be told. @returns how many, and whom to tell */
  cancelMany(
    ids: TaskId[],
    target: TaskTarget,
    action: Action,
  ): Promise<{ accepted: number; over: TaskId[]; refuse: UnwantedSend[] }>;
  /** Runs those of these again that still match; but not one whose key another has. @returns how many run again */
  retryMany(ids: TaskId[], target: TaskTarget, action: Action): Promise<number>;
}
