import { z } from "zod";
import { count, jsonValue } from "../bounds.ts";
import { FlowRef, PoolName, SendId, TaskId, TypeName } from "../ids.ts";
import { TASK_OVER_STATUSES } from "../states/task-status.ts";

/** A handler of a task is started so often at most, if neither type nor creator says otherwise. */
export const DEFAULT_TASK_ATTEMPTS = 10;

const MAX_INPUTS = 10_000;

/** What another task of the flow has come to. The result is JSON in a text: nobody on the way looks into it. */
export const TaskInput = z.object({
  ref: FlowRef,
  status: z.enum(TASK_OVER_STATUSES),
  /** Of what has completed. */
  output: z.string().optional(),
  /** Of what has failed. */
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
  /** How often it has been sent, with this time; absent: by a manager that does not say. Of two of its messages the one with more is the newer. */
  sends: count(1).optional(),
  /** Attempts that failed so far. */
  failures: count(0),
  /** Of its creator; absent: that of its type. */
  maxAttempts: count(1).optional(),
  /** Of a flow: what it comes directly after. */
  inputs: z.array(TaskInput).max(MAX_INPUTS).optional(),
  /** It ended a slot or a service before: nobody else in its slot. */
  alone: z.boolean().optional(),
});
export type StartTask = z.infer<typeof StartTask>;

/** How many short tasks travel together at most. */
export const MAX_BUNDLE = 100;

/**
 * Manager → task queue: short tasks of one type, none of which was sent before, in one message. Acked when the end of each is in
 * the state queue, or that it was given back. Redelivered, all that has not ended is given back to the books, and none is run.
 */
export const TaskBundle = z.object({
  kind: z.literal("TaskBundle"),
  pool: PoolName,
  tasks: z.array(StartTask).min(2).max(MAX_BUNDLE),
  /** One after the other, by one worker: towards the limit of their type they count as one. */
  inTurn: z.boolean().optional(),
});
export type TaskBundle = z.infer<typeof TaskBundle>;

/**
 * Manager → task queue, behind what is in it. Transient, with an expiration. The service that gets it answers TaskMarkerSeen,
 * and then acks.
 */
export const TaskMarker = z.object({ kind: z.literal("TaskMarker"), markerId: z.uuid().toLowerCase(), pool: PoolName });
export type TaskMarker = z.infer<typeof TaskMarker>;
