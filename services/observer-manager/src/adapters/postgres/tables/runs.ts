import { EntitySchema } from "typeorm";
import { column, nullable, primary } from "./column.ts";

/** One row a run. Kept for RETENTION_DAYS after its end. */
export const RunsTable = new EntitySchema({
  name: "Run",
  tableName: "runs",
  columns: {
    id: primary("uuid"),
    /** No foreign key: the writer of a run has locked its observer. */
    observerId: column("uuid", "observer_id"),
    serviceId: column("uuid", "service_id"),
    /** The generation of the service's connection that it belonged to. */
    generation: column("integer"),
    messageId: column("uuid", "message_id"),
    revision: column("integer"),
    epoch: column("integer"),
    /** The token of a type that asks before it starts: its handler was given it, or is to be (docs/decisions/0020-admission.md). */
    fencingToken: nullable("bigint", "fencing_token"),
    /** Requested (it waits for its admission), Current, Superseded (told to stop), Ended. */
    state: column("text"),
    startedAt: column("timestamptz", "started_at"),
    endedAt: nullable("timestamptz", "ended_at"),
    endReason: nullable("text", "end_reason"),
    error: nullable("jsonb"),
    /** How often the broker had given its message out. */
    deliveryCount: nullable("integer", "delivery_count"),
    /** The version of the observer's spec that its message had; null: its service did not say. */
    specVersion: nullable("integer", "spec_version"),
    /** What ended it through no fault of its own. */
    interruption: nullable("text"),
    /** What happened in it between its start and its end: the newest steps. */
    story: column("jsonb"),
  },
  indices: [{ name: "runs_of_observer", unique: true }, { name: "runs_ended" }, { name: "runs_not_ended_on_service" }],
});

/** Runs that were ordered to stop because the books did not have their observer: only those may be taken back. */
export const UnknownRunsTable = new EntitySchema({
  name: "UnknownRun",
  tableName: "unknown_runs",
  columns: {
    runId: primary("uuid", "run_id"),
    observerId: column("uuid", "observer_id"),
    messageId: column("uuid", "message_id"),
    revision: column("integer"),
    serviceId: column("uuid", "service_id"),
    serviceName: column("text", "service_name"),
    pool: column("text"),
    orderedAt: column("timestamptz", "ordered_at"),
  },
  indices: [{ name: "unknown_runs_by_time" }],
});
