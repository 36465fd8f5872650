import { z } from "zod";
import { timestamp } from "../bounds.ts";
import { ChosenTaskId, DEFAULT_POOL, PoolName, TypeName } from "../ids.ts";
import { COMPLETED_BY, TASK_INTERRUPTIONS, TASK_WAITS, TaskStatusName } from "../states/task-states.ts";
import { MAX_BULK } from "./bulk.ts";
import { ProblemDetails } from "./problem-details.ts";
import { Timestamp } from "./timestamp.ts";
import { Stack } from "./withheld.ts";

/** What happens to a create whose key another task has. */
export const ON_CONFLICT = ["reject", "return", "replace", "queue-latest"] as const;
const FOR_A_KEY = "needs a `key`: without one nothing is in its way";

/** Without a key it would mean nothing, although the caller counts on it. `reject` is the default. */
export const conflictFlaw = ({
  key,
  onConflict,
}: {
  key?: string | undefined;
  onConflict: (typeof ON_CONFLICT)[number];
}): string | undefined => (key === undefined && onConflict !== "reject" ? FOR_A_KEY : undefined);

/** POST /tasks. Strict: an unknown key is an error that names it. */
export const CreateTask = z
  .strictObject({
    type: TypeName,
    params: z.unknown().default({}).describe("any JSON value; checked by the type's schema where a live service knows it"),
    id: ChosenTaskId.optional().describe(
      "chosen by the client: makes the request safe to repeat, while the task is remembered; not kept where another has the `key`",
    ),
    pool: PoolName.default(DEFAULT_POOL),
    priority: z.int().min(-1_000).max(1_000).default(0).describe("the higher goes first"),
    startAt: timestamp.optional().describe("ISO 8601; it does not start before that"),
    maxAttempts: z.int().min(1).max(1_000).optional().describe("default: that of its type, which is 10 by default"),
    key: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("of its type no other task with this key is created before it is over"),
    onConflict: z
      .enum(ON_CONFLICT)
      .default("reject")
      .describe(
        "when the `key` is taken; without one only reject may stand here. reject: 409 · return: answered with the other · replace: the other becomes as this request says, if it waits, else as queue-latest · queue-latest: the other runs once more with these params when its run ends, or with newer ones",
      ),
  })
  .superRefine((task, context) => {
    const message = conflictFlaw(task);
    if (message !== undefined) context.addIssue({ code: "custom", path: ["onConflict"], message });
  })
  .meta({ id: "CreateTask" });
export type CreateTask = z.infer<typeof CreateTask>;

/** PATCH /tasks/{taskId}. */
export const ChangeTask = z
  .strictObject({ priority: z.int().min(-1_000).max(1_000).describe("the higher goes first") })
  .meta({ id: "ChangeTask" });
export type ChangeTask = z.infer<typeof ChangeTask>;

/** POST /tasks/batch */
export const CreateTasks = z.strictObject({ tasks: z.array(CreateTask).min(1).max(MAX_BULK) }).meta({ id: "CreateTasks" });
export type CreateTasks = z.infer<typeof CreateTasks>;

/** The body as a whole; the items of its list are checked one by one. */
export const CreateTasksEnvelope = CreateTasks.extend({ tasks: z.array(z.unknown()).min(1).max(MAX_BULK) });

/** `exists`: a task has its id already, with the same body · the others are about its key. */
export const CREATE_OUTCOMES = ["created", "exists", "returned", "replaced", "queued"] as const;

const TaskError = z
  .object({ name: z.string(), message: z.string(), stack: Stack })
  .describe("of the last attempt that failed, or why a service has refused its params; the stack stands with a single task");

const anyJson = () => z.unknown().refine((value): boolean => value !== undefined); // always there; of `unknown` alone the document would say that it may be missing

export const TaskView = z
  .object({
    id: z.guid(),
    type: z.string(),
    params: anyJson().describe("any JSON value"),
    pool: z.string(),
    key: z.string().nullable().describe("its type has no other task with this key that is not over; null: none"),
    priority: z.int(),
    status: TaskStatusName,
    waitsFor: z
      .enum(TASK_WAITS)
      .nullable()
      .describe(
        "why it has not started: others of its `flow` come before it, `due-time`, it was `postponed` (until `dueAt`, for `postponedFor`), its type is `paused` or at its limit (`max-running`, `rate`), no `service` of its pool has the type, it is worked outside and nobody has taken it (`taker`), others go first (`turn`), or it is in the queue for a free `worker`; null: it runs, or is over",
      ),
    cancelling: z.boolean().describe("somebody has cancelled it, and its handler has not ended yet"),
    cancelled: z
      .object({ by: z.string(), requestId: z.string() })
      .nullable()
      .describe("who has cancelled it, alone or with many others, and by which request; null: nobody, or its flow has"),
    runsAgain: z.boolean().describe("newer params of its key wait: it runs once more, with these, when its run ends"),
    dueAt: Timestamp.describe("not before; after a failure: when it is tried again"),
    maxAttempts: z.int().nullable().describe("null: that of its type"),
    failures: z.int().describe("attempts that failed"),
    interruptions: z.int().describe("attempts that ended through no fault of the handler: its slot or service went"),
    sends: z.int().describe("how often it was put into the queue, or taken"),
    postpones: z
      .int()
      .describe("how often its handler, or who had taken it, has put it off: neither failures nor interruptions"),
    postponedFor: z.string().nullable().describe("the reason that was given for that, while it waits"),
    service: z.object({ id: z.uuid(), name: z.string() }).nullable().describe("where it runs, or ran last"),
    taken: z
      .object({ by: z.string(), until: Timestamp.nullable() })
      .nullable()
      .describe("who took it last to work on it outside, and until when it is theirs; `until` null: it is not any more"),
    startedAt: Timestamp.nullable().describe("of the last attempt"),
    endedAt: Timestamp.nullable(),
    output: anyJson().describe("what its handler returned; null before"),
    completedBy: z
      .enum(COMPLETED_BY)
      .nullable()
      .describe("which of its handlers completed it; `emergency`: the one that runs once the other has failed often enough"),
    lastError: TaskError.nullable(),
    flow: z
      .object({
        id: z.uuid(),
        ref: z.string().describe("its name there"),
        reason: z.string().nullable().describe("why the flow has cancelled it: such as `fetch failed`"),
      })
      .nullable()
      .describe("the flow that it is a task of; null: none"),
    parentId: z.guid().nullable().describe("the task whose handler created it; null: a client did"),
    created: z
      .array(z.object({ id: z.guid(), type: z.string(), outcome: z.enum(CREATE_OUTCOMES) }))
      .optional()
      .describe("what its handler created, in the order given, with what became of it; stands with a single task"),
    refused: z
      .array(z.object({ id: z.string(), type: z.string(), code: z.string(), detail: z.string() }))
      .optional()
      .describe("what its handler wanted to create and could not, and why; stands with a single task"),
    edits: z
      .array(
        z.object({
          at: Timestamp,
          by: z.string(),
          before: anyJson().describe("the params until then; null where they were longer than 16 KiB"),
        }),
      )
      .optional()
      .describe("who has changed its params, the newest last, at most five; stands with a single task"),
    interrupted: z
      .array(
        z.object({
          at: Timestamp.describe("when the books heard of it"),
          reason: z
            .enum(TASK_INTERRUPTIONS)
            .describe(
              "service-gone: another service was given its message, and this one has not said how it ended: it died, or was cut off · lease-lost: the same, and later it said that it had lost the broker · restarted: its own service began it again · crashed: its slot ended while it was alone in it, or blocked by it · missing-from-inventory: no service had its message any more · of workers outside, lease-over: its lease ran out · taken-back: by hand",
            ),
          service: z
            .object({ id: z.uuid(), name: z.string() })
            .nullable()
            .describe("which had it; null: none, or it is not known"),
          takenBy: z.string().nullable().describe("the worker outside that had it; null: a service had"),
          detail: z
            .string()
            .nullable()
            .describe("what its service says of it: how its slot ended, and who did that, if it is known"),
        }),
      )
      .optional()
      .describe("its `interruptions`, the newest last, at most three; stands with a single task"),
    createdAt: Timestamp,
  })
  .meta({ id: "Task" });
export type TaskView = z.infer<typeof TaskView>;

/** The answer to a create: the task that it made, or that has its key. */
export const CreatedTask = TaskView.extend({
  outcome: z
    .enum(CREATE_OUTCOMES)
    .describe(
      "created · exists: by its `id`, with the same body · and where another task has its key: returned as it is · replaced: it waited, and is as the request says now · queued: it runs once more with these params",
    ),
}).meta({ id: "CreatedTask" });
export type CreatedTask = z.infer<typeof CreatedTask>;

/** How far the tasks of a filter are counted. */
export const MAX_TASK_COUNT = 10_000;

export const TaskPage = z
  .object({
    items: z.array(TaskView),
    total: z.int().describe(`all that match the filter, not only this page; counted up to ${MAX_TASK_COUNT}`),
    isTotalExact: z.boolean().describe("false: there are more than `total`"),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "TaskPage" });
export type TaskPage = z.infer<typeof TaskPage>;

const status = z.int().describe("as the single call would have answered");
const refused = z.object({ status: z.int(), problem: ProblemDetails });

/** The answer of POST /tasks/batch, in the order given. */
export const TaskBatchResults = z
  .object({ results: z.array(z.union([z.object({ status, task: CreatedTask }), refused])) })
  .meta({ id: "TaskBatchResults" });
export type TaskBatchResults = z.infer<typeof TaskBatchResults>;

/** The answer to `Prefer: return=minimal`: only what the client cannot know of each. */
export const TaskReceipts = z
  .object({
    results: z.array(z.union([z.object({ status, task: CreatedTask.pick({ id: true, outcome: true }) }), refused])),
  })
  .meta({ id: "TaskReceipts" });
export type TaskReceipts = z.infer<typeof TaskReceipts>;
