import type { TaskId, TaskInput } from "@unacked/contracts";
import type { Claimed } from "../../../../domain/tasks/bundles.ts";

/** There is always one row: without a task if none was claimed. */
export interface ClaimRow extends Omit<Claimed["task"], "pool" | "maxAttempts" | "alone" | "taskId" | "inputs" | "sends"> {
  taskId: Claimed["task"]["taskId"] | null;
  maxAttempts: number | null;
  alone: boolean;
  unhurt: boolean;
  sends: number;
  lane: TaskId | null;
  maxRunning?: number | null;
  flowId: string | null;
  flowRef: string | null;
  /** The claim has no room for its params. */
  isBeyond: boolean | null;
  nextRoomInMs: number | null;
  keepsWorkers: boolean;
  roomAhead: number;
  /** Only the plain claim has these two. */
  isRefused?: boolean;
  isAll?: boolean;
}

export type ClaimedRow = ClaimRow & { taskId: TaskId };

/** The tasks of these rows, as they are sent. @param inputs of those that belong to flows */
export function claimedOf(pool: string, rows: ClaimedRow[], inputs: ReadonlyMap<string, TaskInput[]>): Claimed[] {
  return rows.map(({ taskId, sendId, type, params, failures, maxAttempts, alone, sends, unhurt, lane, maxRunning }) => {
    const own = inputs.get(taskId);
    const task = { taskId, sendId, pool, type, params, sends, failures, ...(own !== undefined && { inputs: own }) };
    const wishes = { ...(maxAttempts !== null && { maxAttempts }), ...(alone && { alone }) };
    const inLane = lane !== null && { lane, ...(maxRunning != null && { maxRunning }) };
    return { task: { ...task, ...wishes }, isFirstSend: sends === 1, isUnhurt: unhurt, ...inLane };
  });
}
