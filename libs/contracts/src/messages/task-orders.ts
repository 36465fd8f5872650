import { z } from "zod";
import { SendId, TaskId } from "../ids.ts";

/**
 * End these attempts for good (direct, to one service). Answered by TaskEnded, or not at all if there is no such attempt. It is
 * sent again until the manager knows an end.
 */
export const CancelTasks = z.object({
  kind: z.literal("CancelTasks"),
  targets: z.array(z.object({ taskId: TaskId, sendId: SendId })),
});
export type CancelTasks = z.infer<typeof CancelTasks>;

/**
 * An inventory names what was given back within so long, too: on its way back to the queue it is in nobody's hands. A proof of absence waits
 * for inventories for less. Managers and services of other versions go by it: it stays as it is.
 */
export const LET_GO_KEPT_MS = 60_000;

/** Answer with a TaskInventory, after the tasks that are on their way to you, and only while the lease is held (direct, to one service). */
export const ReportTasks = z.object({ kind: z.literal("ReportTasks"), markerId: z.uuid().toLowerCase() });
export type ReportTasks = z.infer<typeof ReportTasks>;
