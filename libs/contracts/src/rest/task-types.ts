import { z } from "zod";

const NO_LIMIT_IS_ZERO = "must be 1 or more; `paused` lets none start, null takes the limit away";

/** The limits of a task type, for all pools together unless it is said otherwise. Null means no limit. */
const LIMITS = {
  paused: z.boolean().describe("nothing of it is started; what runs goes on"),
  maxRunning: z
    .int()
    .min(1, NO_LIMIT_IS_ZERO)
    .max(100_000)
    .nullable()
    .describe("so many are Sent or Running at most; null: no limit"),
  minRunning: z
    .int()
    .min(0)
    .max(10_000)
    .describe("so many workers are kept for it in each pool that has the type; one is always left to the others"),
  ratePerSecond: z
    .int()
    .min(1, NO_LIMIT_IS_ZERO)
    .max(100_000)
    .nullable()
    .describe("so many are sent to workers, or taken by workers outside, in any second at most; null: no limit"),
  outside: z
    .boolean()
    .describe("it is worked outside: its tasks are created although no service has it, and wait until somebody takes them"),
};

/** PATCH /task-types/{taskType}. A field that is left out stays as it is. */
export const ChangeTaskType = z
  .strictObject(LIMITS)
  .partial()
  .refine((change) => Object.keys(change).length > 0, "names nothing to change")
  .meta({ id: "ChangeTaskType" });
export type ChangeTaskType = z.infer<typeof ChangeTaskType>;

export const TaskTypeView = z
  .object({
    type: z.string(),
    ...LIMITS,
    inFlight: z.int().describe("tasks that are Sent or Running now"),
    services: z.int().describe("living services with task workers that have the type"),
    changedAt: z.iso.datetime().nullable().describe("when its limits were changed last; null: they never were, or are none"),
  })
  .meta({ id: "TaskType" });
export type TaskTypeView = z.infer<typeof TaskTypeView>;

/** GET /task-types: the types that living services have, and those with limits. */
export const TaskTypeList = z.object({ items: z.array(TaskTypeView), total: z.int() }).meta({ id: "TaskTypeList" });
export type TaskTypeList = z.infer<typeof TaskTypeList>;
