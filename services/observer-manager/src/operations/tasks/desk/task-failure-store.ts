import type { TaskId, TaskView } from "@unacked/contracts";
import type { Action } from "../../access/audit.ts";
import type { TaskStore } from "./task-store.ts";

/** Tasks that are Failed with the very same error. */
export interface AlikeFailures {
  type: string;
  name: string;
  message: string;
  count: number;
  firstEndedAt: Date;
  lastEndedAt: Date;
  /** The one that was created last, and when. */
  newestId: TaskId;
  newestAtMs: number;
}

/** The tasks that it is about. */
export interface FailureFilter {
  type?: string | undefined;
  pool?: string | undefined;
}

/** What one is Failed with, and its place among them. */
export interface FailedTask {
  id: TaskId;
  createdAtMicros: string;
  name: string;
  message: string;
}

export interface TaskFailureStore {
  /** Groups the newest `limit` that are Failed. */
  alike(filter: FailureFilter, limit: number): Promise<AlikeFailures[]>;
  /** What the newest `limit` of a type are Failed with, or those behind that one. The newest come first. */
  errorsOf(type: string, limit: number, after?: FailedTask): Promise<FailedTask[]>;
  /** The task as it is, to check what it is to become. */
  find(id: TaskId): Promise<TaskView | undefined>;
  /** Does what a retry does, with these params; the former ones stand in its story. */
  retryWith(id: TaskId, params: unknown, action: Action): ReturnType<TaskStore["retry"]>;
}
