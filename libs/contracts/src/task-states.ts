import { z } from "zod";
import { TASK_STATUSES } from "./task-status.ts";

/** The same as a schema (task-status.ts has none, so that the page need not load zod for it). */
export const TaskStatusName = z.enum(TASK_STATUSES);

/**
 * Why a task that waits has not started. due-time: it is Scheduled · paused: its type is · max-running: as many of its type are Sent or
 * Running as may · rate: as many of its type were started in the last second as may · service: no living service of its pool has the
 * type · turn: all workers are busy, or kept for others · worker: it is in the queue, for the next free worker.
 */
export const TASK_WAITS = ["due-time", "paused", "max-running", "rate", "service", "turn", "worker"] as const;
export type TaskWait = (typeof TASK_WAITS)[number];

/** How an attempt ended. `crashed`: its slot ended while it was alone in it · `unknown-type`: this service does not have the type. */
export const TASK_OUTCOMES = ["completed", "failed", "cancelled", "crashed", "unknown-type"] as const;
