import { z } from "zod";
import { count, keptJsonSchema, MAX_INT4, shownText, wallClockMs } from "../bounds.ts";
import { PoolName, RunId, SendId, ServiceId, ServiceName, TaskId, TypeName } from "../ids.ts";
import { COMPLETED_BY, TASK_OUTCOMES } from "../states/task-states.ts";
import { MAX_TYPES } from "./announced-types.ts";
import { MAX_LISTED } from "./decode-list.ts";
import { ErrorText, MAX_INTERRUPTION } from "./events.ts";
import { MAX_BUNDLE } from "./start-task.ts";

/** The bound of a task's output, as JSON in UTF-8. */
export const MAX_TASK_OUTPUT_BYTES = 65_536;

/** A task type as a service has it. */
export const TaskTypeInfo = z.object({
  type: TypeName,
  description: shownText(1_000).default(""),
  /** JSON Schema (draft 2020-12) of the type's params; `{}` accepts everything. */
  paramsSchema: keptJsonSchema,
  /** How long its tasks run here, in ms: a mean in which the last fifty count most. Absent if too few have run. */
  meanMs: z.number().min(0).optional(),
  /** How many of its tasks are given to one call. Absent means one. */
  batch: count(1).max(MAX_BUNDLE).optional(),
});
export type TaskTypeInfo = z.infer<typeof TaskTypeInfo>;

/** The first event of each generation, and every 5 s: what this service does for tasks. */
export const TaskWorkers = z.object({
  kind: z.literal("TaskWorkers"),
  workers: count(0).max(65_535),
  draining: z.boolean(),
  types: z.array(TaskTypeInfo).max(MAX_TYPES),
});
export type TaskWorkers = z.infer<typeof TaskWorkers>;

/** How many running tasks are reported at once. */
export const MAX_TOLD_RUNNING = 1_000;

const attempt = { taskId: TaskId, sendId: SendId, runId: RunId, at: wallClockMs };

/** Of a run that follows another one here, and of a return in place of one: what ended that, and who did it, if it is known. */
const interruption = shownText(MAX_INTERRUPTION).optional();

/** Not sent for a task that ends first: TaskEnded says all of it. Sent again, with another run, for one that begins again here. */
export const TaskStarted = z.object({ kind: z.literal("TaskStarted"), ...attempt, interruption });
export type TaskStarted = z.infer<typeof TaskStarted>;

/** The longest time that a task can be put off: a year, as `ctx.postpone` says. Services and managers cut longer times to it. */
export const MAX_POSTPONE_MS = 366 * 86_400_000;

/** When the handler wants its task to go on: after some time, or at a time. */
export const TaskPostponement = z.object({
  inMs: wallClockMs.overwrite((ms) => Math.min(ms, MAX_POSTPONE_MS)).optional(),
  at: wallClockMs.optional(),
  /** Empty if it gave none. */
  reason: shownText(1_000).default(""),
});
export type TaskPostponement = z.infer<typeof TaskPostponement>;

/**
 * The tasks that a handler creates: each is the JSON of a CreateTask with an id. They are texts, so that a wrong one affects only
 * itself: it is refused when it is read.
 */
export const TaskCreations = z.array(z.string().max(1_048_576)).max(100);

/** Its message is acked once this is confirmed. */
export const TaskEnded = z.object({
  kind: z.literal("TaskEnded"),
  ...attempt,
  interruption,
  startedAt: wallClockMs,
  outcome: z.enum(TASK_OUTCOMES),
  /** For a completed task: its output as JSON. */
  output: z.string().max(MAX_TASK_OUTPUT_BYTES).optional(),
  error: ErrorText.optional(),
  /** For a failed task: when it is to be tried again. Null means not any more. */
  retryInMs: z.int().min(0).max(MAX_INT4).nullable().optional(),
  /** For a postponed task. */
  postponement: TaskPostponement.optional(),
  /** For a completed task. Absent means `handler`. */
  completedBy: z.enum(COMPLETED_BY).optional(),
  /** For a completed task. */
  creations: TaskCreations.optional(),
});
export type TaskEnded = z.infer<typeof TaskEnded>;

/** The attempt ended, but the task is not over (a drain, a lost lease): its message is, or will be, somebody else's. */
export const TaskReleased = z.object({ kind: z.literal("TaskReleased"), ...attempt });
export type TaskReleased = z.infer<typeof TaskReleased>;

/**
 * The task is not run here (any more), and nobody has its message, so the manager sends it again. It waited for a worker, or for a slot of
 * its own, for too long, was part of a bundle when the service drained, or came in a bundle that was delivered again.
 */
export const TaskReturned = z.object({
  kind: z.literal("TaskReturned"),
  taskId: TaskId,
  sendId: SendId,
  at: wallClockMs,
  /** The service that had it before has gone: if it had begun, that was an interruption. */
  isRedelivered: z.boolean().default(false),
  interruption,
  /** It needs a slot of its own, and none was free, so others go first. */
  noSlot: z.boolean().optional(),
});
export type TaskReturned = z.infer<typeof TaskReturned>;

/** A marker has come out of the task queue; its message is acked once this is confirmed. */
export const TaskMarkerSeen = z.object({ kind: z.literal("TaskMarkerSeen"), markerId: z.uuid().toLowerCase() });
export type TaskMarkerSeen = z.infer<typeof TaskMarkerSeen>;

/** The answer to ReportTasks: all sends whose message this service holds. */
export const TaskInventory = z.object({
  kind: z.literal("TaskInventory"),
  markerId: z.uuid().toLowerCase(),
  held: z.array(SendId).max(65_535),
});
export type TaskInventory = z.infer<typeof TaskInventory>;

/**
 * Sent every 30 s: the tasks that have run for longer than that. A task that nobody wants any more is then told so, even if the message
 * that it began, or the order to end it, was lost.
 */
export const TasksRunning = z.object({
  kind: z.literal("TasksRunning"),
  tasks: z.array(z.object({ taskId: TaskId, sendId: SendId })).max(MAX_TOLD_RUNNING),
});
export type TasksRunning = z.infer<typeof TasksRunning>;

export const TaskEvent = z.discriminatedUnion("kind", [
  TaskWorkers,
  TaskStarted,
  TaskEnded,
  TaskReleased,
  TaskReturned,
  TaskMarkerSeen,
  TaskInventory,
  TasksRunning,
]);
export type TaskEvent = z.infer<typeof TaskEvent>;

/** One message of the tasks' state queue: numbered per service, one in flight. */
export const TaskEventBatch = z.object({
  kind: z.literal("TaskEventBatch"),
  serviceId: ServiceId,
  serviceName: ServiceName,
  pool: PoolName,
  generation: count(1),
  /** Counts up by one per batch and boot. A batch that comes twice is applied once. */
  seq: z.int().min(1),
  /** Empty if all were left out when it was decoded. */
  events: z.array(TaskEvent).max(MAX_LISTED),
});
export type TaskEventBatch = z.infer<typeof TaskEventBatch>;
