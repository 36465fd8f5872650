import type { FlowTask, TASK_OVER_STATUSES } from "@unacked/contracts";

/** A task of a flow that is over. */
export interface EndedStep {
  flowId: string;
  ref: string;
  status: (typeof TASK_OVER_STATUSES)[number];
  onFailure: FlowTask["onFailure"];
  /** Why the flow has cancelled it. */
  reason: string | null;
}

/** A task that comes directly after another (`after`). */
export interface Follower {
  flowId: string;
  after: string;
  ref: string;
  taskId: string;
  /** How many of what it comes after are not over, as far as the books were followed. */
  waiting: number;
}

/** What becomes of the tasks that come after ended ones. One that is not Blocked any more stays as it is, whatever is said of it here. */
export interface Progress {
  waiting: { flowId: string; ref: string; waiting: number }[];
  unlock: string[];
  cancel: { taskId: string; reason: string }[];
}

/**
 * Whether what comes after the task may run. A task that the flow has cancelled (it has a reason) never ran, and stands in the way whatever
 * its own `onFailure` is.
 */
export const isPassed = ({ status, onFailure, reason }: Omit<EndedStep, "flowId" | "ref">): boolean =>
  status === "Completed" || (onFailure === "continue" && reason === null);

/** Why what comes after the task is cancelled. The first cause is passed on. */
export const reasonOf = ({ ref, status, reason }: Pick<EndedStep, "ref" | "status" | "reason">): string =>
  reason ?? (status === "Cancelled" ? `${ref} was cancelled` : `${ref} failed`);

const keyOf = ({ flowId, ref }: { flowId: string; ref: string }): string => `${flowId} ${ref}`;

/** @param followers of these ends, each pair once: nothing is counted down that was counted down before */
export function progressOf(ends: readonly EndedStep[], followers: readonly Follower[]): Progress {
  const byKey = new Map(ends.map((end) => [keyOf(end), end]));
  const left = new Map<string, Follower>();
  const cancel = new Map<string, string>();
  for (const follower of followers) {
    const end = byKey.get(keyOf({ flowId: follower.flowId, ref: follower.after }));
    if (end === undefined) continue;
    const key = keyOf(follower);
    const known = left.get(key) ?? { ...follower };
    left.set(key, known);
    known.waiting -= 1;
    if (!isPassed(end) && !cancel.has(known.taskId)) cancel.set(known.taskId, reasonOf(end));
  }
  const all = [...left.values()];
  return {
    waiting: all.map(({ flowId, ref, waiting }) => ({ flowId, ref, waiting })),
    unlock: all.filter(({ waiting, taskId }) => waiting <= 0 && !cancel.has(taskId)).map(({ taskId }) => taskId),
    cancel: [...cancel].map(([taskId, reason]) => ({ taskId, reason })),
  };
}

/** How far the follow-up of an end has come. */
export interface EndToFollow {
  /** How many come directly after it, and how many of these were looked at. */
  followers: number;
  passed: number;
}

/** One transaction looks at so many followers of each end, from where the last one stopped. `isDone`: that end is done then. */
export function chunkOf<End extends EndToFollow>(
  ends: readonly End[],
  mostEdges: number,
): { end: End; count: number; isDone: boolean }[] {
  const chunk: { end: End; count: number; isDone: boolean }[] = [];
  let room = mostEdges;
  for (const end of ends) {
    const left = Math.max(0, end.followers - end.passed);
    if (left > 0 && room === 0) break; // in order, so that none waits behind those that come later
    const count = Math.min(left, room);
    room -= count;
    chunk.push({ end, count, isDone: count === left });
  }
  return chunk;
}
