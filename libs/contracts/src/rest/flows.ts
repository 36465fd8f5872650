import { z } from "zod";
import { timestamp } from "../bounds.ts";
import { DEFAULT_POOL, FlowId, FlowRef, PoolName, TypeName } from "../ids.ts";
import { MAX_TASK_OUTPUT_BYTES } from "../messages/task-events.ts";
import { TASK_WAITS, TaskStatusName } from "../states/task-states.ts";
import { Timestamp } from "./timestamp.ts";

/** The bounds of one flow: its tasks, and the refs in all their `after` together. */
export const MAX_FLOW_TASKS = 10_000;
export const MAX_FLOW_EDGES = 50_000;
/** The bound for all inputs of a task: the `maxOutputBytes` of its predecessors together. They travel in its message. */
export const MAX_FLOW_INPUT_BYTES = 1_048_576;

export const FLOW_STATUSES = ["Running", "Completed", "Failed", "Cancelled"] as const;
export const FlowStatusName = z.enum(FLOW_STATUSES);
export type FlowStatusName = z.infer<typeof FlowStatusName>;

export const ON_FAILURE = ["fail", "continue"] as const;

const FIELDS = {
  type: TypeName,
  params: z.unknown().default({}).describe("any JSON value; checked by the type's schema where a live service knows it"),
  pool: PoolName.default(DEFAULT_POOL),
  priority: z.int().min(-1_000).max(1_000).default(0).describe("the higher goes first"),
  startAt: timestamp.optional().describe("ISO 8601; it does not start before that, whatever it comes after"),
  maxAttempts: z.int().min(1).max(1_000).optional().describe("default: that of its type, which is 10 by default"),
  onFailure: z
    .enum(ON_FAILURE)
    .default("fail")
    .describe(
      "when it has failed for good, or was cancelled by hand. fail: all that comes after it is Cancelled, and the flow ends Failed · continue: what comes after it runs, and is told that this input is missing",
    ),
  maxOutputBytes: z
    .int()
    .min(1)
    .max(MAX_TASK_OUTPUT_BYTES)
    .default(MAX_TASK_OUTPUT_BYTES)
    .describe(
      `how long its result may be as JSON, where others come after it: all that one task comes directly after may have ${MAX_FLOW_INPUT_BYTES} bytes together`,
    ),
};

/** A task of a flow. */
export const FlowTask = z
  .strictObject({
    ref: FlowRef.describe("its name within the flow"),
    ...FIELDS,
    after: z
      .array(FlowRef)
      .max(MAX_FLOW_TASKS)
      .default([])
      .describe("refs of those that have to be over before it: their results are its inputs"),
  })
  .meta({ id: "FlowTask" });
export type FlowTask = z.infer<typeof FlowTask>;

/** A task of the simple form, where each comes after the one before. */
const FlowStage = z.union([
  TypeName.describe("a task type; it is the ref, too"),
  z.strictObject({ ref: FlowRef.optional().describe("default: its type"), ...FIELDS }),
]);

/** POST /flows. Strict: an unknown key is an error that names it. */
export const CreateFlow = z
  .strictObject({
    id: FlowId.optional().describe("chosen by the client: makes the request safe to repeat, while the flow is remembered"),
    name: z.string().min(1).max(128).optional().describe("for people; many may have the same"),
    tasks: z
      .array(FlowTask)
      .min(1)
      .max(MAX_FLOW_TASKS)
      .optional()
      .describe(`at most ${MAX_FLOW_EDGES} refs in all \`after\` together`),
    stages: z
      .array(FlowStage)
      .min(1)
      .max(MAX_FLOW_TASKS)
      .optional()
      .describe("instead of tasks: each comes after the one before"),
  })
  .refine(({ tasks, stages }) => (tasks === undefined) !== (stages === undefined), "needs either tasks or stages")
  .meta({ id: "CreateFlow" });
export type CreateFlow = z.infer<typeof CreateFlow>;

/** POST /flows/{flowId}/rerun. */
export const RerunFlow = z
  .strictObject({
    from: z
      .union([FlowRef, z.array(FlowRef).min(1).max(MAX_FLOW_TASKS)])
      .optional()
      .describe("these, and all that come after them, run again; left out: all that did not complete"),
  })
  .meta({ id: "RerunFlow" });
export type RerunFlow = z.infer<typeof RerunFlow>;

export const FlowView = z
  .object({
    id: z.uuid(),
    name: z.string().nullable(),
    status: FlowStatusName.describe(
      "Running · Completed: also where tasks failed whose `onFailure` is `continue` · Failed · Cancelled: somebody has cancelled it whole",
    ),
    cancelling: z.boolean().describe("somebody has cancelled it, and some of its tasks have not ended yet"),
    reason: z.string().nullable().describe("why it is Failed, or Cancelled, or will be: such as `fetch failed`"),
    run: z.int().describe("1, and one more each time it is run again"),
    tasks: z
      .object({
        total: z.int(),
        completed: z.int(),
        failed: z.int(),
        cancelled: z.int(),
      })
      .describe("how many are over; the others wait or run"),
    createdAt: Timestamp,
    endedAt: Timestamp.nullable(),
  })
  .meta({ id: "Flow" });
export type FlowView = z.infer<typeof FlowView>;

export const FLOW_OUTCOMES = ["created", "exists"] as const;

/** The answer to a create. */
export const CreatedFlow = FlowView.extend({
  outcome: z.enum(FLOW_OUTCOMES).describe("created · exists: there already by its `id`, with the same content"),
}).meta({ id: "CreatedFlow" });
export type CreatedFlow = z.infer<typeof CreatedFlow>;

/** How far the flows of a filter are counted. */
export const MAX_FLOW_COUNT = 10_000;

export const FlowPage = z
  .object({
    items: z.array(FlowView),
    total: z.int().describe(`all that match the filter, not only this page; counted up to ${MAX_FLOW_COUNT}`),
    isTotalExact: z.boolean().describe("false: there are more than `total`"),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "FlowPage" });
export type FlowPage = z.infer<typeof FlowPage>;

/** How much of an error's message a list of tasks shows: a thousand of 16,384 characters are too much for a page. */
export const FLOW_TASK_MESSAGE_CHARS = 1_000;

export const FlowTaskView = z
  .object({
    ref: z.string(),
    taskId: z.uuid().describe("its task of this run: GET /tasks/{taskId} says all of it"),
    type: z.string(),
    pool: z.string(),
    after: z.array(z.string()).describe("what it comes directly after"),
    onFailure: z.enum(ON_FAILURE),
    maxOutputBytes: z.int(),
    run: z.int().describe("the run of the flow in which it was started, or will be"),
    status: TaskStatusName.describe("Blocked: it waits for what it comes after"),
    waitsFor: z.int().describe("how many of `after` are not over yet"),
    waitReason: z
      .enum(TASK_WAITS)
      .nullable()
      .describe("why it has not started, as `waitsFor` of its task says; null: it runs, or is over"),
    reason: z.string().nullable().describe("why the flow has cancelled it: such as `fetch failed`"),
    lastError: z
      .object({ name: z.string(), message: z.string() })
      .nullable()
      .describe(
        `of what is over and has not completed; ${FLOW_TASK_MESSAGE_CHARS} characters of its message: its task has all of it`,
      ),
    startedAt: Timestamp.nullable().describe("of its last attempt, while the task is remembered"),
    endedAt: Timestamp.nullable(),
    output: z
      .unknown()
      .optional()
      .describe("what it returned; only where `outputs` was asked for, and of what has completed"),
  })
  .meta({ id: "FlowTaskState" });
export type FlowTaskView = z.infer<typeof FlowTaskView>;

export const FlowTaskPage = z
  .object({
    items: z.array(FlowTaskView).describe("in the order in which they were created"),
    total: z.int().describe("all of the flow"),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "FlowTaskPage" });
export type FlowTaskPage = z.infer<typeof FlowTaskPage>;
