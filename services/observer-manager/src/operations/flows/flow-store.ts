import type { FlowId, FlowStatusName, FlowTask, FlowTaskView, FlowView, TaskId } from "@unacked/contracts";
import type { Action } from "../access/audit.ts";
import type { UnwantedSend } from "../tasks/unwanted-send.ts";

/** A flow about to be: already valid. */
export interface NewFlow {
  id: FlowId;
  name: string | undefined;
  tasks: readonly FlowTask[];
}

export type FlowInsertOutcome = { kind: "created"; flow: FlowView } | { kind: "exists"; flow: FlowView } | { kind: "taken" };

export interface FlowQuery {
  name?: string | undefined;
  statuses?: readonly FlowStatusName[] | undefined;
  limit: number;
  after?: { createdAtMicros: string; id: string } | undefined;
}

/** What REST does to flows. Each change commits with its entry in the audit trail. */
export interface FlowStore {
  insert(flow: NewFlow, action: Action): Promise<FlowInsertOutcome>;
  /** What is there under the flow's id; undefined: nothing. */
  findRepeated(flow: NewFlow): Promise<Exclude<FlowInsertOutcome, { kind: "created" }> | undefined>;
  find(id: FlowId): Promise<FlowView | undefined>;
  /** Those of these that are over. */
  findOver(ids: FlowId[]): Promise<FlowId[]>;
  list(
    query: FlowQuery,
  ): Promise<{ items: FlowView[]; total: number; isTotalExact: boolean; last?: { createdAtMicros: string; id: string } }>;
  /** Lists from a place on, in order. Undefined: there is no such flow. @param withOutputs with what each has returned */
  listTasks(
    id: FlowId,
    asked: { fromPlace: number; limit: number; withOutputs: boolean },
  ): Promise<{ items: FlowTaskView[]; total: number; nextPlace: number | undefined } | undefined>;
  /** Marks it; its tasks are told by whoever follows flows. */
  cancel(id: FlowId, action: Action): Promise<{ kind: "marked"; flow: FlowView } | { kind: "was-over" | "not-found" }>;
  /** @param mayUse whether these pools may be sent tasks of flows */
  rerun(
    id: FlowId,
    from: readonly string[] | undefined,
    action: Action,
  ): Promise<{ kind: "running"; flow: FlowView } | { kind: "refused"; why: string } | { kind: "not-over" | "not-found" }>;
  poolsOf(id: FlowId): Promise<string[]>;
}

export interface Followed {
  /** How many ends were looked at. None: nothing is left to do, or somebody else is at it. */
  ends: number;
  unlocked: number;
  cancelled: TaskId[];
  over: { id: FlowId; status: FlowStatusName }[];
}

/** What follows the ends of tasks up. No call takes more than a chunk of them. */
export interface FlowFollowStore {
  /** Whether there is something to follow up, or a flow to be cancelled: looked at each second, and so one short statement. */
  hasWork(): Promise<boolean>;
  /** Follows some of the ends that nobody has followed up: writes them down, and unlocks or cancels what comes after. */
  follow(): Promise<Followed>;
  /** Cancels some tasks of a flow that somebody has cancelled. @returns undefined: there is none */
  cancelSome(limit: number): Promise<{ over: TaskId[]; refuse: UnwantedSend[] } | undefined>;
  /** Forgets some of the oldest, `limit` at most. @returns how many flows are gone; 0: there are no more */
  forget(olderThanMs: number, limit: number): Promise<number>;
}

export interface FlowCounts {
  running: number;
  /** Ends that nobody has followed up, and for how long the oldest has waited. */
  ends: number;
  oldestEndS: number;
}
