import { z } from "zod";
import { cutText } from "../bounds.ts";
import { DEFAULT_POOL, PoolName, SendId, TypeName } from "../ids.ts";
import { MAX_POSTPONE_MS } from "../messages/task-events.ts";
import { TASK_OVER_STATUSES } from "../states/task-status.ts";
import { MAX_STACK } from "../text-lengths.ts";

/** How many can be taken at once: the params of one may be 256 KiB. */
export const MAX_TAKEN = 100;
const MAX_TYPES = 100;
const MAX_WAIT_MS = 30_000;

const leaseMs = z
  .int()
  .min(1_000)
  .max(86_400_000)
  .describe("for so long from now on it is nobody else's; extend it before it is over");

/** POST /tasks/take */
export const TakeTasks = z
  .strictObject({
    types: z.array(TypeName).min(1).max(MAX_TYPES),
    pool: PoolName.default(DEFAULT_POOL),
    count: z.int().min(1).max(MAX_TAKEN).default(1).describe("so many at most"),
    leaseMs: leaseMs.default(60_000),
    wait: z
      .int()
      .min(0)
      .max(MAX_WAIT_MS)
      .default(0)
      .describe("in ms: where there is none now, answers as soon as there is one, or after so long with none"),
  })
  .meta({ id: "TakeTasks" });
export type TakeTasks = z.infer<typeof TakeTasks>;

const Timestamp = z.iso.datetime().describe("ISO 8601, UTC, by the database's clock");

export const TakenTask = z
  .object({
    id: z.guid(),
    sendId: SendId.describe("goes with complete, fail, extend and release: says which taking of the task they are about"),
    type: z.string(),
    params: z.unknown().refine((value): boolean => value !== undefined),
    inputs: z
      .array(
        z.object({
          ref: z.string(),
          status: z.enum(TASK_OVER_STATUSES),
          output: z.unknown().optional().describe("of what has completed"),
          error: z.object({ name: z.string(), message: z.string() }).optional().describe("of what has failed"),
        }),
      )
      .optional()
      .describe("of a task of a flow: what it comes directly after"),
    attempt: z.int().describe("1 the first time; counts failures, not interruptions"),
    leaseUntil: Timestamp,
  })
  .meta({ id: "TakenTask" });
export type TakenTask = z.infer<typeof TakenTask>;

export const TakenTasks = z
  .object({
    tasks: z.array(TakenTask).describe("the most urgent first; none: there was none in time"),
    unknownTypes: z
      .array(z.string())
      .optional()
      .describe(
        "only where none is taken: those of the types of which nobody has heard, as no service has one, nobody has set its limits or said that it is worked outside, and no task of it is or was. Mistyped, or before its first task",
      ),
    otherPools: z
      .array(z.object({ type: z.string(), pool: z.string() }))
      .optional()
      .describe(
        "only where none is taken: those of the types of which a task was Ready in another pool a second ago and none in this one, with the first of these pools by name (1,000 types of pools are looked at)",
      ),
  })
  .meta({ id: "TakenTasks" });
export type TakenTasks = z.infer<typeof TakenTasks>;

/** POST /tasks/{taskId}/complete */
export const CompleteTask = z
  .strictObject({
    sendId: SendId,
    output: z.unknown().default(null).describe("any JSON value, up to 64 KiB"),
  })
  .meta({ id: "CompleteTask" });
export type CompleteTask = z.infer<typeof CompleteTask>;

/** What a worker caught. Nothing of it is refused that is text: while it is, nobody hears of the error. */
const CaughtError = z
  .object({
    name: cutText(256)
      .overwrite((name) => name || "Error")
      .default("Error")
      .describe("cut to 256 characters"),
    message: cutText(16_384).describe("cut to 16,384 characters"),
    stack: cutText(MAX_STACK)
      .optional()
      .describe(`where it was thrown, for people: cut to ${MAX_STACK.toLocaleString("en")} characters`),
  })
  .describe("NUL and half characters become U+FFFD, and other fields are left out");

/** POST /tasks/{taskId}/fail */
export const FailTask = z
  .strictObject({
    sendId: SendId,
    error: CaughtError,
    retryable: z.boolean().default(true).describe("false: the task is Failed, whatever attempts are left"),
    retryInMs: z
      .int()
      .min(0)
      .max(86_400_000)
      .optional()
      .describe("when it is tried again; default: after 1 s, doubling to 5 min, ±20 %"),
  })
  .meta({ id: "FailTask" });
export type FailTask = z.infer<typeof FailTask>;

/** POST /tasks/{taskId}/release */
export const ReleaseTask = z
  .strictObject({
    sendId: SendId,
    inMs: z.int().min(0).max(MAX_POSTPONE_MS).optional().describe("not before; left out: it is due now, in its old place"),
    reason: z
      .string()
      .max(1_000)
      .optional()
      .describe("stands in the audit trail, and with the task while it waits for `inMs` to be over"),
  })
  .meta({ id: "ReleaseTask" });
export type ReleaseTask = z.infer<typeof ReleaseTask>;

/** POST /tasks/{taskId}/extend */
export const ExtendTask = z.strictObject({ sendId: SendId, leaseMs: leaseMs.default(60_000) }).meta({ id: "ExtendTask" });
export type ExtendTask = z.infer<typeof ExtendTask>;

export const TaskLease = z.object({ leaseUntil: Timestamp }).meta({ id: "TaskLease" });
export type TaskLease = z.infer<typeof TaskLease>;
