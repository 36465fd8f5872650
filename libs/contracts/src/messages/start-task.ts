import { z } from "zod";
import { count, jsonValue } from "../bounds.ts";
import { FlowRef, PoolName, SendId, TaskId, TypeName } from "../ids.ts";
import { TASK_OVER_STATUSES } from "../states/task-status.ts";

/** How often a task's handler is started at most, if neither type nor creator says otherwise. */
export const DEFAULT_TASK_ATTEMPTS = 10;

const MAX_INPUTS = 10_000;

/** The result of another task of the flow. It is JSON in a text, which nobody on the way reads. */
export const TaskInput = z.object({
  ref: FlowRef,
  status: z.enum(TASK_OVER_STATUSES),
  /** For a task that has completed. */
  output: z.string().optional(),
  /** For a task that has failed. */
  error: z.object({ name: z.string(), message: z.string() }).optional(),
});
export type TaskInput = z.infer<typeof TaskInput>;

/** Manager → task queue. Unacked while it runs, acked when its end is in the state queue. Persistent, mandatory. */
export const StartTask = z.object({
  taskId: TaskId,
  sendId: SendId,
  type: TypeName,
  params: jsonValue,
  pool: PoolName,
  /**
   * How often it has been sent, including this time. Absent if the manager does not say. Of two of its messages the one with more is the
   * newer.
   */
  sends: count(1).optional(),
  /** Attempts that failed so far. */
  failures: count(0),
  /** The creator's limit. Absent means that of its type. */
  maxAttempts: count(1).optional(),
  /** For a task of a flow: the results of those that it directly comes after. */
  inputs: z.array(TaskInput).max(MAX_INPUTS).optional(),
  /** It ended a slot or a service before, so nobody else runs in its slot. */
  alone: z.boolean().optional(),
});
export type StartTask = z.infer<typeof StartTask>;

/** How many short tasks travel together at most. */
export const MAX_BUNDLE = 100;

/**
 * Manager → task queue: short tasks of one type, none sent before, in one message. It is acked when the end of each, or its
 * return, is in the state queue. If it is redelivered, all tasks that have not ended are given back to the manager, and none is
 * run.
 */
export const TaskBundle = z.object({
  kind: z.literal("TaskBundle"),
  pool: PoolName,
  tasks: z.array(StartTask).min(2).max(MAX_BUNDLE),
  /** One worker runs them one after the other, so they count as one towards the limit of their type. */
  inTurn: z.boolean().optional(),
});
export type TaskBundle = z.infer<typeof TaskBundle>;

/**
 * Manager → task queue, behind what is in it. Transient, with an expiration. The service that gets it answers TaskMarkerSeen,
 * and then acks.
 */
export const TaskMarker = z.object({ kind: z.literal("TaskMarker"), markerId: z.uuid().toLowerCase(), pool: PoolName });
export type TaskMarker = z.infer<typeof TaskMarker>;
