import type { ChangeTask, TaskId, TaskStatus, TaskView } from "@unacked/contracts";
import type { Action } from "../../access/audit.ts";
import type { InsertOutcome } from "../creations/insert-outcome.ts";
import type { Creation } from "../creations/new-task.ts";
import type { AtOnce } from "../dispatch/at-once.ts";
import type { UnwantedSend } from "../unwanted-send.ts";

export interface TaskQuery {
  statuses?: TaskStatus[] | undefined;
  type?: string | undefined;
  pool?: string | undefined;
  /** Name or id of the service that it runs on: only tasks that run are on one. */
  service?: string | undefined;
  /** How its id begins: lower case, with hyphens. */
  idStart?: string | undefined;
  limit: number;
  after?: { createdAtMicros: string; id: string } | undefined;
}

/** Tasks as they are created, looked at and changed, in the database. No call leaves a transaction open; all reject while it is away. */
export interface TaskStore {
  /**
   * Inserts each for itself, in order: it is created, there already by its id with the same body, or its id is taken; where another task
   * has its key, what it wants to become of that. `sending` is for those without keys.
   */
  insert(tasks: Creation[], sending?: AtOnce): Promise<InsertOutcome[]>;
  find(id: TaskId): Promise<TaskView | undefined>;
  /** Those of these that are over. */
  findOver(ids: TaskId[]): Promise<TaskId[]>;
  list(
    query: TaskQuery,
  ): Promise<{ items: TaskView[]; total: number; isTotalExact: boolean; last?: { createdAtMicros: string; id: string } }>;
  /** `over`: it is now (`refuse`: those that its message may come to) · `ordered`: it runs, and its service is to be told · `was-over`: before. */
  cancel(
    id: TaskId,
    action: Action,
  ): Promise<{ kind: "over" | "ordered"; task: TaskView; refuse: UnwantedSend[] } | { kind: "was-over" | "not-found" }>;
  change(
    id: TaskId,
    change: ChangeTask,
    action: Action,
  ): Promise<{ kind: "changed"; task: TaskView } | { kind: "was-over" | "not-found" }>;
  retry(
    id: TaskId,
    action: Action,
  ): Promise<
    | { kind: "retried"; task: TaskView }
    | { kind: "not-retryable" | "not-found" }
    | { kind: "key-taken"; winner: TaskId }
    /** Somebody's transaction has its key, and has not ended. */
    | { kind: "held-up"; key: string | null }
    /** It is over, and part of a flow: that is run again as a whole. */
    | { kind: "of-flow"; flowId: string }
  >;
}
