import { z } from "zod";
import { TypeName } from "../ids.ts";
import { ErrorGroupText } from "./errors.ts";
import { Timestamp } from "./timestamp.ts";

/** How many of the Failed tasks are looked at, the newest. */
export const MAX_FAILURES = 10_000;

/** How many Failed tasks of one type, the newest, are searched for those of a group that is to run again. */
export const MAX_FAILURES_OF_TYPE = 1_000_000;

export const TaskFailureGroup = z
  .object({
    type: z.string(),
    group: z.string().describe("what their errors have in common: name and message, without ids, numbers and times"),
    count: z.int(),
    firstEndedAt: Timestamp,
    lastEndedAt: Timestamp,
    example: z
      .object({ id: z.guid(), lastError: z.object({ name: z.string(), message: z.string() }) })
      .describe("the one that was created last"),
  })
  .meta({ id: "TaskFailureGroup" });
export type TaskFailureGroup = z.infer<typeof TaskFailureGroup>;

/** GET /task-failures: the groups with most tasks come first. */
export const TaskFailureGroups = z
  .object({
    items: z.array(TaskFailureGroup),
    total: z.int().describe("groups"),
    isComplete: z.boolean().describe(`false: more than ${MAX_FAILURES} are Failed, and only the newest were looked at`),
  })
  .meta({ id: "TaskFailureGroups" });
export type TaskFailureGroups = z.infer<typeof TaskFailureGroups>;

/** POST /task-failures/retry */
export const RetryFailures = z
  .strictObject({
    type: TypeName,
    group: ErrorGroupText.describe("as GET /task-failures has it"),
    dryRun: z.boolean().default(false).describe("answers as if, and changes nothing"),
  })
  .meta({ id: "RetryFailures" });
export type RetryFailures = z.infer<typeof RetryFailures>;

/** POST /tasks/{taskId}/retry-with */
export const RetryTaskWith = z
  .strictObject({
    params: z
      .unknown()
      .refine((value) => value !== undefined, "is missing")
      .describe("instead of those that it has; checked by the type's schema where a live service knows it"),
  })
  .meta({ id: "RetryTaskWith" });
export type RetryTaskWith = z.infer<typeof RetryTaskWith>;
