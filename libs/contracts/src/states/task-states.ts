import { z } from "zod";
import { TASK_STATUSES } from "./task-status.ts";

/** The statuses as a schema. task-status.ts has none, so that the page need not load zod for it. */
export const TaskStatusName = z.enum(TASK_STATUSES);

/**
 * Why a task that waits has not started. flow: others of its flow come before it · due-time: it is Scheduled · postponed: so it is, by its own handler · paused: its type is · max-running: as many of its type are Sent or
 * Running as may · rate: as many of its type were started in the last second as may · service: no living service of its pool has the
 * type · taker: likewise, and its type is worked outside: somebody has to take it · turn: all workers are busy, or kept for others ·
 * worker: it is in the queue, for the next free worker.
 */
export const TASK_WAITS = [
  "flow",
  "due-time",
  "postponed",
  "paused",
  "max-running",
  "rate",
  "service",
  "taker",
  "turn",
  "worker",
] as const;
export type TaskWait = (typeof TASK_WAITS)[number];

/**
 * How an attempt ended. `postponed`: it wants to go on later, and was none · `crashed`: its slot ended while it was alone in it ·
 * `unknown-type`: this service does not have the type.
 */
export const TASK_OUTCOMES = ["completed", "failed", "postponed", "cancelled", "crashed", "unknown-type"] as const;

/**
 * Why an attempt ended through no fault of its handler, or for the end of its slot; where an observer's run ends so, it is the same word. service-gone: another
 * service was given its message, and this one has not said how it ended · lease-lost: the same, and later it said that it had lost the broker ·
 * restarted: its own service began it again · crashed: its slot ended while it was alone in it, or blocked by it · missing-from-inventory: no
 * service had its message any more · lease-over: of a worker outside, its lease ran out · taken-back: of one, by hand.
 */
export const TASK_INTERRUPTIONS = [
  "service-gone",
  "lease-lost",
  "restarted",
  "crashed",
  "missing-from-inventory",
  "lease-over",
  "taken-back",
] as const;
export type TaskInterruption = (typeof TASK_INTERRUPTIONS)[number];

/** Which of the handlers completed a task. */
export const COMPLETED_BY = ["handler", "emergency"] as const;
