import { isTaskOver, type TaskStatus, type TaskView } from "@unacked/contracts";
import type { Tone } from "./statuses.ts";

/** In the order in which they are shown. A status that the contracts gain is missing here, and does not compile. */
export const TASK_LOOKS: Record<TaskStatus, { tone: Tone; sign: string; meaning: string }> = {
  Running: { tone: "good", sign: "●", meaning: "its handler runs" },
  Sent: { tone: "wait", sign: "◑", meaning: "is on its way to a service" },
  Ready: { tone: "wait", sign: "◔", meaning: "is due, and waits for a task worker" },
  Blocked: { tone: "wait", sign: "◌", meaning: "waits for others of its flow" },
  Scheduled: { tone: "wait", sign: "◷", meaning: "is not due yet" },
  Failed: { tone: "bad", sign: "✕", meaning: "its attempts are used up, or nothing could mend it" },
  Cancelled: { tone: "over", sign: "○", meaning: "somebody has cancelled it, or its flow or schedule" },
  Completed: { tone: "over", sign: "✓", meaning: "its handler returned" },
};

export const TASK_SHOWN = Object.keys(TASK_LOOKS) as TaskStatus[];

/** What a task waits for that has not started. */
export const TASK_WAIT_WORDS: Record<NonNullable<TaskView["waitsFor"]>, string> = {
  flow: "others of its flow, which it comes after",
  "due-time": "the time at which it is due",
  postponed: "the time until which it was put off",
  paused: "somebody to start its type again: it is paused",
  "max-running": "one of its type to end: as many run as may",
  rate: "the next second: as many of its type have started as may",
  service: "a service of its pool that has its type",
  taker: "somebody to take it: no service of its pool has its type, which is worked outside",
  turn: "its turn: all task workers are busy, or kept for others",
  worker: "the next free task worker: it is in the queue",
};

type Interruption = NonNullable<TaskView["interrupted"]>[number];

/** Why an attempt ended through no fault of its handler, or for the end of its slot. */
export const TASK_INTERRUPTION_WORDS: Record<Interruption["reason"], string> = {
  "service-gone": "its service died, or was cut off: another was given the task, and this one has said nothing of its end",
  "lease-lost": "its service lost the broker, and another was given the task",
  restarted: "its service began it again",
  crashed: "it was alone in the slot that ended, or blocked it",
  "missing-from-inventory": "no service had it any more",
  "lease-over": "its lease ran out",
  "taken-back": "somebody took it back",
};

/** How it stands, with why where that is known of it alone. */
export function meaningOf({ status, completedBy, flow }: Pick<TaskView, "status" | "completedBy" | "flow">): string {
  if (completedBy === "emergency") return "its emergency handler returned";
  if (status === "Cancelled" && flow !== null && flow.reason !== null) return `its flow has cancelled it: ${flow.reason}`;
  return TASK_LOOKS[status].meaning;
}

/** Its beginning is the time at which it was made, which others share. */
export const shortId = (id: string): string => `${id.slice(0, 8)}…${id.slice(-6)}`;

export const canCancel = ({ status, cancelling }: TaskView): boolean => !isTaskOver(status) && !cancelling;

/** A worker outside has it. */
export const canTakeBack = ({ taken }: TaskView): boolean => taken !== null && taken.until !== null;

/** Again with all its attempts, or at once instead of when it is due. */
export const canRetry = ({ status, flow }: TaskView): boolean =>
  status === "Scheduled" || ((status === "Failed" || status === "Cancelled") && flow === null); // a flow is run again as a whole

/**
 * How long its last attempt has run, or ran; null before the first, and of one that was cancelled: that may have been while it waited for the next one.
 */
export function ranMs(
  { startedAt, endedAt, status }: Pick<TaskView, "startedAt" | "endedAt" | "status">,
  nowMs: number,
): number | null {
  if (startedAt === null || status === "Cancelled" || (endedAt === null && status !== "Running")) return null;
  return Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt));
}
