import { z } from "zod";
import { count, keptJsonSchema, MAX_INT4, shownText, wallClockMs } from "../bounds.ts";
import { PoolName, RunId, SendId, ServiceId, ServiceName, TaskId, TypeName } from "../ids.ts";
import { COMPLETED_BY, TASK_OUTCOMES } from "../states/task-states.ts";
import { MAX_TYPES } from "./announced-types.ts";
import { MAX_LISTED } from "./decode-list.ts";
import { ErrorText } from "./events.ts";
import { MAX_BUNDLE } from "./start-task.ts";

/** How long what a task returns may be, as JSON in UTF-8. */
export const MAX_TASK_OUTPUT_BYTES = 65_536;

/** A task type as a service has it. */
export const TaskTypeInfo = z.object({
  type: TypeName,
  description: shownText(1_000).default(""),
  /** JSON Schema (draft 2020-12) of the type's params; `{}` accepts everything. */
  paramsSchema: keptJsonSchema,
  /** How long its tasks run here, in ms: the mean, in which the last fifty count most. Absent: too few have run. */
  meanMs: z.number().min(0).optional(),
  /** So many of its tasks are given to one call; absent: one. */
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

/** Of what runs so many are told of at once. */
export const MAX_TOLD_RUNNING = 1_000;

const attempt = { taskId: TaskId, sendId: SendId, runId: RunId, at: wallClockMs };

/** Not said of what ends before it was sent: TaskEnded says all of it. Said again, with another run, of what begins again here. */
export const TaskStarted = z.object({ kind: z.literal("TaskStarted"), ...attempt });
export type TaskStarted = z.infer<typeof TaskStarted>;

/** So far a task can be put off: a year, as `ctx.postpone` says. What is told of more is cut to it, by service and manager alike. */
export const MAX_POSTPONE_MS = 366 * 86_400_000;

/** When the handler wants its task to go on: after so long, or at a time. */
export const TaskPostponement = z.object({
  inMs: wallClockMs.overwrite((ms) => Math.min(ms, MAX_POSTPONE_MS)).optional(),
  at: wallClockMs.optional(),
  /** Empty: it gave none. */
  reason: shownText(1_000).default(""),
});
export type TaskPostponement = z.infer<typeof TaskPostponement>;

/**
 * What a handler creates: each the JSON of a CreateTask with an id. As texts, so that one that is not right costs no more than itself:
 * whoever reads them refuses it.
 */
export const TaskCreations = z.array(z.string().max(1_048_576)).max(100);

/** Its message is acked once this is confirmed. */
export const TaskEnded = z.object({
  kind: z.literal("TaskEnded"),
  ...attempt,
  startedAt: wallClockMs,
  outcome: z.enum(TASK_OUTCOMES),
  /** Of what completed: JSON. */
  output: z.string().max(MAX_TASK_OUTPUT_BYTES).optional(),
  error: ErrorText.optional(),
  /** Of what failed: when it is to be tried again; null: not any more. */
  retryInMs: z.int().min(0).max(MAX_INT4).nullable().optional(),
  /** Of what was postponed. */
  postponement: TaskPostponement.optional(),
  /** Of what completed; absent: `handler`. */
  completedBy: z.enum(COMPLETED_BY).optional(),
  /** Of what completed. */
  creations: TaskCreations.optional(),
});
export type TaskEnded = z.infer<typeof TaskEnded>;

/** It ended without being over (a drain, a lost lease): its message is, or will be, somebody else's. */
export const TaskReleased = z.object({ kind: z.literal("TaskReleased"), ...attempt });
export type TaskReleased = z.infer<typeof TaskReleased>;

/**
 * It is not run here (any more), and nobody has its message: the books send it again. Of what waited for a worker, or for a slot of its own, for too long, was
 * part of a bundle when the service drained, or came in a bundle that was delivered once more.
 */
export const TaskReturned = z.object({
  kind: z.literal("TaskReturned"),
  taskId: TaskId,
  sendId: SendId,
  at: wallClockMs,
  /** The service that had it before has gone: if it had begun, that was an interruption. */
  isRedelivered: z.boolean().default(false),
  /** It needs a slot of its own, and none was free: others go first. */
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
 * Each 30 s: what has run for longer than that. So that who runs what nobody wants any more is told so, also where the word that it has begun, or the
 * order to end it, was lost.
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
  /** None: all that were in it were left out when it was decoded. */
  events: z.array(TaskEvent).max(MAX_LISTED),
});
export type TaskEventBatch = z.infer<typeof TaskEventBatch>;
