import { EntitySchema, type EntitySchemaColumnOptions } from "typeorm";
import { column, nullable, primary, uuids } from "./column.ts";

const COMMON: Record<string, EntitySchemaColumnOptions> = {
  id: primary("uuid"),
  type: column("text"),
  params: column("jsonb"),
  pool: column("text"),
  priority: column("integer"),
  status: column("text"),
  /** It does not start before; after a failure it is tried again then. */
  dueAt: column("timestamptz", "due_at"),
  /** Null: the number of its type. */
  maxAttempts: nullable("integer", "max_attempts"),
  failures: column("integer"),
  interruptions: column("integer"),
  /** Interruptions with which its service went, or a slot in which it was alone: the third one ends it. */
  crashes: column("integer"),
  sends: column("integer"),
  runId: nullable("uuid", "run_id"),
  serviceId: nullable("uuid", "service_id"),
  serviceName: nullable("text", "service_name"),
  startedAt: nullable("timestamptz", "started_at"),
  lastError: nullable("jsonb", "last_error"),
  createdAt: column("timestamptz", "created_at"),
  key: nullable("text"),
  /** The flow that it is a task of, and its name there. */
  flowId: nullable("uuid", "flow_id"),
  flowRef: nullable("text", "flow_ref"),
  /** The task whose handler created it. */
  parentId: nullable("uuid", "parent_id"),
  /**
   * An object of what few tasks have: `postpones`, `postponedFor`, `completedBy`, `created`, `refused`, `edits`, `cancelled`,
   * `flowReason`, `handedOn`, `interrupted`, `lost`.
   */
  story: nullable("jsonb"),
  /** Who took it last to work on it outside; null: nobody, or a service was given it since. */
  takenBy: nullable("text", "taken_by"),
  /** The taking whose end was told last: told again, it is answered the same. */
  toldSend: nullable("uuid", "told_send"),
};

/** Tasks that are not over (docs/decisions/0011-tasks.md). */
export const TasksTable = new EntitySchema({
  name: "Task",
  tableName: "tasks",
  columns: {
    ...COMMON,
    /** The id of the message that is in the queue, or runs: what is told of another one changes nothing. */
    sendId: nullable("uuid", "send_id"),
    sentAt: nullable("timestamptz", "sent_at"),
    serviceGeneration: nullable("integer", "service_generation"),
    cancelRequestedAt: nullable("timestamptz", "cancel_requested_at"),
    /** The params of a newer request with its key. */
    nextParams: nullable("jsonb", "next_params"),
    cancelOrderedAt: nullable("timestamptz", "cancel_ordered_at"),
    /** Until then it belongs to its taker; null: nobody outside has it. */
    leaseUntil: nullable("timestamptz", "lease_until"),
    /** For a type with `max_running`: the first of the tasks that run one after the other, and count as one. */
    lane: nullable("uuid"),
  },
  indices: [
    { name: "tasks_ready" },
    { name: "tasks_ready_of_type" },
    { name: "tasks_scheduled" },
    { name: "tasks_in_flight" },
    { name: "tasks_cancelling" },
    { name: "tasks_leases" },
    { name: "tasks_taken" },
    { name: "tasks_newest" },
    { name: "tasks_of_type" },
    { name: "tasks_of_flow" },
    { name: "tasks_key", unique: true },
  ],
});

/** Tasks that are over, one partition a day. Kept for TASK_RETENTION_DAYS. */
export const EndedTasksTable = new EntitySchema({
  name: "EndedTask",
  tableName: "ended_tasks",
  columns: {
    ...COMMON,
    /** What its handler returned, as JSON. */
    output: nullable("text"),
    endedAt: column("timestamptz", "ended_at"),
  },
  indices: [
    { name: "ended_tasks_by_id" },
    { name: "ended_tasks_of_type" },
    { name: "ended_tasks_of_pool" },
    { name: "ended_tasks_by_status" },
  ],
});

/** One row a boot of a service that has task workers, until an hour or two after its end. */
export const TaskServicesTable = new EntitySchema({
  name: "TaskService",
  tableName: "task_services",
  columns: {
    id: primary("uuid"),
    generation: column("integer"),
    name: column("text"),
    pool: column("text"),
    workers: column("integer"),
    draining: column("boolean"),
    types: column("jsonb"),
    /** Made of `types` by PostgreSQL: the same without what is long, and a number that is equal for equal types. */
    typeFacts: column("jsonb", "type_facts"),
    typesHash: column("bigint", "types_hash"),
    /** By type, how long its tasks take there, in ms. */
    means: column("jsonb"),
    /** The last batch of events that was applied. */
    lastSeq: column("bigint", "last_seq"),
    seenAt: column("timestamptz", "seen_at"),
  },
});

/** One row a pool in which a task is in doubt. */
export const TaskProofsTable = new EntitySchema({
  name: "TaskProof",
  tableName: "task_proofs",
  columns: {
    pool: primary("text"),
    markerId: column("uuid", "marker_id"),
    begunAt: column("timestamptz", "begun_at"),
    /** Each is `<id>.<generation>`, as in `answered`. */
    services: { type: "text", array: true },
    seenAt: nullable("timestamptz", "seen_at"),
    askedAt: nullable("timestamptz", "asked_at"),
    answered: { type: "text", array: true },
    held: uuids("held"),
  },
});

/** What `unacked_create_task` is to do to the task that has the key, as its caller's transaction commits; deleted by that. */
export const TaskWishesTable = new EntitySchema({
  name: "TaskWish",
  tableName: "task_wishes",
  columns: {
    position: primary("bigint"),
    type: column("text"),
    key: column("text"),
    onConflict: column("text", "on_conflict"),
    /** The id of the new task, if the one that has the key is over by then; null: any. */
    id: nullable("uuid"),
    params: column("jsonb"),
    pool: column("text"),
    priority: column("integer"),
    startAt: nullable("timestamptz", "start_at"),
    maxAttempts: nullable("integer", "max_attempts"),
  },
});

/** One row a type that is limited in any way. */
export const TaskTypesTable = new EntitySchema({
  name: "TaskType",
  tableName: "task_types",
  columns: {
    type: primary("text"),
    paused: column("boolean"),
    /** At most so many are Sent or Running, in all pools together. */
    maxRunning: nullable("integer", "max_running"),
    /** So many workers are kept for it, in each pool that has it. */
    minRunning: column("integer", "min_running"),
    ratePerSecond: nullable("integer", "rate_per_second"),
    /** Tasks of it are created although no service has it. */
    outside: column("boolean"),
    /** The claims of its last second, and how many tasks each took. */
    claimedAt: { type: "timestamptz", array: true, name: "claimed_at" },
    claimed: { type: "integer", array: true },
    changedAt: column("timestamptz", "changed_at"),
  },
});

/** One row a request over AMQP that was decided, kept for TASK_RETENTION_DAYS. */
export const TaskRequestsTable = new EntitySchema({
  name: "TaskRequest",
  tableName: "task_requests",
  columns: {
    /** The user of the broker. */
    requester: primary("text"),
    messageId: primary("text", "message_id"),
    /** SHA-256 of its body, in hex. */
    digest: column("text"),
    /** The answer as JSON: it is given again if the request comes again. */
    answer: column("text"),
    decidedAt: column("timestamptz", "decided_at"),
  },
  indices: [{ name: "task_requests_by_time" }],
});
