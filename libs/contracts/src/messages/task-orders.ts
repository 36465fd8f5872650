import { z } from "zod";
import { SendId, TaskId } from "../ids.ts";

/**
 * End these attempts, for good (direct, to one service). Answered by TaskEnded, or not at all where there is no such attempt: it is
 * ordered again until the books have an end.
 */
export const CancelTasks = z.object({
  kind: z.literal("CancelTasks"),
  targets: z.array(z.object({ taskId: TaskId, sendId: SendId })),
});
export type CancelTasks = z.infer<typeof CancelTasks>;

/** Answer with a TaskInventory, behind the tasks that are on their way to you, and only while the lease is held (direct, to one service). */
export const ReportTasks = z.object({ kind: z.literal("ReportTasks"), markerId: z.uuid().toLowerCase() });
export type ReportTasks = z.infer<typeof ReportTasks>;
