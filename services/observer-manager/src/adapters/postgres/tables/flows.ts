import { EntitySchema } from "typeorm";
import { column, identity, nullable, primary } from "./column.ts";

/** Tasks that wait for each other (docs/decisions/0017-flows.md). A flow is kept for TASK_RETENTION_DAYS after its end. */
export const FlowsTable = new EntitySchema({
  name: "Flow",
  tableName: "flows",
  columns: {
    id: primary("uuid"),
    name: nullable("text"),
    status: column("text"),
    /** Counted up each time it is run again. */
    run: column("integer"),
    /** SHA-256 of what was asked, in hex: if the same is asked again, the answer is this flow. */
    digest: column("text"),
    total: column("integer"),
    /** These count only ends that were followed up. */
    completed: column("integer"),
    failed: column("integer"),
    cancelled: column("integer"),
    /** Why it is Failed, or is going to be. */
    reason: nullable("text"),
    cancelRequestedAt: nullable("timestamptz", "cancel_requested_at"),
    /** All its tasks have been told of the cancel. */
    cancelOrdered: column("boolean", "cancel_ordered"),
    createdAt: column("timestamptz", "created_at"),
    endedAt: nullable("timestamptz", "ended_at"),
  },
  indices: [
    { name: "flows_newest" },
    { name: "flows_of_name" },
    { name: "flows_by_status" },
    { name: "flows_running" },
    { name: "flows_to_cancel" },
    { name: "flows_by_end" },
  ],
});

/** One row for each task of a flow, for as long as the flow: what its runs are made of, and what the last one has come to. */
export const FlowTasksTable = new EntitySchema({
  name: "FlowTask",
  tableName: "flow_tasks",
  columns: {
    flowId: primary("uuid", "flow_id"),
    ref: primary("text"),
    place: column("integer"),
    /** The task of its last run. */
    taskId: column("uuid", "task_id"),
    type: column("text"),
    params: column("jsonb"),
    pool: column("text"),
    priority: column("integer"),
    startAt: nullable("timestamptz", "start_at"),
    maxAttempts: nullable("integer", "max_attempts"),
    onFailure: column("text", "on_failure"),
    maxOutputBytes: column("integer", "max_output_bytes"),
    run: column("integer"),
    /** How many come directly after it. */
    followers: column("integer"),
    /** How many of what it comes after are not over, or not followed up. */
    waiting: column("integer"),
    /** How it ended; null: it has not, or nobody has followed it up. */
    status: nullable("text"),
    /** What it returned, as JSON: kept for those that come after it, also in a run to come. */
    output: nullable("text"),
    error: nullable("jsonb"),
    /** Why the flow has cancelled it. */
    reason: nullable("text"),
    endedAt: nullable("timestamptz", "ended_at"),
  },
  indices: [{ name: "flow_tasks_in_order", unique: true }],
});

/** `ref` comes directly after `after`. */
export const FlowEdgesTable = new EntitySchema({
  name: "FlowEdge",
  tableName: "flow_edges",
  columns: { flowId: primary("uuid", "flow_id"), after: primary("text"), ref: primary("text") },
  indices: [{ name: "flow_edges_back" }],
});

/** Ends of tasks of flows that nobody has followed up yet. */
export const FlowEndsTable = new EntitySchema({
  name: "FlowEnd",
  tableName: "flow_ends",
  columns: {
    id: identity(),
    flowId: column("uuid", "flow_id"),
    ref: column("text"),
    taskId: column("uuid", "task_id"),
    status: column("text"),
    output: nullable("text"),
    error: nullable("jsonb"),
    reason: nullable("text"),
    /** How many of those that come directly after it were looked at. */
    passed: column("integer"),
    endedAt: column("timestamptz", "ended_at"),
  },
  indices: [{ name: "flow_ends_of_flow" }],
});
