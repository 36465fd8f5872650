/** The task is over, and kept in the database until the retention ends. */
export const TASK_OVER_STATUSES = ["Completed", "Failed", "Cancelled"] as const;

export const TASK_STATUSES = ["Blocked", "Scheduled", "Ready", "Sent", "Running", ...TASK_OVER_STATUSES] as const;

/**
 * Where a task stands in the books.
 * Blocked: others of its flow come before it · Scheduled: due later, also after a failure · Ready: due, waits for its turn · Sent: in the queue, for the next free worker ·
 * Running · Completed: its handler returned · Failed: attempts used up, or it ended three slots or services · Cancelled.
 */
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const isTaskOver = (status: TaskStatus): boolean => (TASK_OVER_STATUSES as readonly string[]).includes(status);
