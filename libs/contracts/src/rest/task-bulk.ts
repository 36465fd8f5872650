import { z } from "zod";
import { PoolName, TaskId, TypeName } from "../ids.ts";
import type { TASK_STATUSES } from "../states/task-status.ts";
import { MAX_BULK } from "./bulk.ts";
import { MAX_FAILURES_OF_TYPE } from "./task-failures.ts";

/** The statuses that may be cancelled, and those that may be retried. */
const CANCELLABLE = ["Blocked", "Scheduled", "Ready", "Sent", "Running"] as const satisfies (typeof TASK_STATUSES)[number][];
const RETRYABLE = ["Failed", "Cancelled", "Scheduled"] as const satisfies (typeof TASK_STATUSES)[number][];

const filter = <Status extends string>(statuses: readonly [Status, ...Status[]], all: string) =>
  z.strictObject({
    status: z.array(z.enum(statuses)).min(1).optional().describe(`left out: ${all}`),
    type: TypeName.optional(),
    pool: PoolName.optional(),
  });

const target = <Filter extends z.ZodType>(of: Filter, all: string) => ({
  ids: z.array(TaskId).min(1).max(MAX_BULK).optional(),
  filter: of.optional(),
  all: z.boolean().default(false).describe(`needed where no filter is given: ${all}`),
  dryRun: z.boolean().default(false).describe("answers as if, and changes nothing"),
});

interface Target {
  ids?: unknown[] | undefined;
  filter?: object | undefined;
  all: boolean;
}

function refuseTargetFlaw({ ids, filter: of, all }: Target, context: z.RefinementCtx): void {
  const says = of !== undefined && Object.values(of).some((value) => value !== undefined);
  const ways = [ids !== undefined, says, all].filter(Boolean).length;
  if (ways === 1 && (ids === undefined || of === undefined)) return;
  const message = ways === 0 ? "needs ids, a filter that says which, or all" : "only one of ids, a filter and all";
  context.addIssue({ code: "custom", path: [], message });
}

/** POST /tasks/cancel */
export const CancelTasksRequest = z
  .strictObject(target(filter(CANCELLABLE, "all that are not over"), "every task that is not over"))
  .superRefine(refuseTargetFlaw)
  .meta({ id: "CancelTasksRequest" });
export type CancelTasksRequest = z.infer<typeof CancelTasksRequest>;

/** POST /tasks/retry */
export const RetryTasksRequest = z
  .strictObject(target(filter(RETRYABLE, "Failed"), "every task that is Failed; for others give a filter with their status"))
  .superRefine(refuseTargetFlaw)
  .meta({ id: "RetryTasksRequest" });
export type RetryTasksRequest = z.infer<typeof RetryTasksRequest>;

export const TaskBulkCount = z
  .object({
    matched: z.int().describe(`up to ${MAX_BULK}, which one call does at most`),
    accepted: z.int().describe("the others are over, gone, or have a key that another has"),
    more: z
      .boolean()
      .describe(
        `others match too: the same call does them next. Of a group of failures: or more than ${MAX_FAILURES_OF_TYPE} of the type are Failed, and older ones were not looked at`,
      ),
  })
  .meta({ id: "TaskBulkCount" });
export type TaskBulkCount = z.infer<typeof TaskBulkCount>;
