import { EntitySchema } from "typeorm";
import { column, nullable, primary, times } from "./column.ts";

/** One row an observer, kept until it is Deleted and the retention has passed. Written by the ledger and by REST. */
export const ObserversTable = new EntitySchema({
  name: "Observer",
  tableName: "observers",
  columns: {
    id: primary("uuid"),
    /** Unique among those that are not Deleted. */
    name: column("text"),
    type: column("text"),
    params: column("jsonb"),
    labels: column("jsonb"),
    pool: column("text"),
    retry: column("jsonb"),
    /** How long it may go without a beat; null: as its type says. */
    silence: nullable("jsonb"),
    /** Since when its run has had no beat, if that is longer than it may; counts while it is Processing. */
    silentSince: nullable("timestamptz", "silent_since"),
    /** libs/contracts, observer-status.ts */
    status: column("text"),
    /** What is under way beside the status: `pause`, `update`, or nothing. */
    pending: nullable("text"),
    /** Counted up with each new message: a run of an older one is obsolete. */
    revision: column("integer"),
    /** Counted up with each change of what is wanted of it (libs/contracts, observer-spec.ts). */
    specVersion: column("integer", "spec_version"),
    /** The least spec version with which a run is as is wanted. */
    neededSpecVersion: column("integer", "needed_spec_version"),
    /** The least spec version that the message of the present revision has. */
    sentSpecVersion: column("integer", "sent_spec_version"),
    /** The spec version of the current run. */
    observedSpecVersion: nullable("integer", "observed_spec_version"),
    /** The update that its run does not take as it runs, why, and the params that it keeps. */
    rejectedUpdate: nullable("jsonb", "rejected_update"),
    /** Where its message is, if it is wanted in another pool, or where it was left by a deletion by force; else null. */
    messagePool: nullable("text", "message_pool"),
    /** How many runs it has had. */
    epoch: column("integer"),
    /** The highest token that a run of it was given; null: none was. */
    fencingToken: nullable("bigint", "fencing_token"),
    currentRunId: nullable("uuid", "current_run_id"),
    /** The run that waits for its admission. */
    requestedRunId: nullable("uuid", "requested_run_id"),
    currentServiceId: nullable("uuid", "current_service_id"),
    /** Attempts in the present series of failures. */
    attempts: column("integer"),
    lastError: nullable("jsonb", "last_error"),
    /** The same for all errors that say the same; set if and only if there is an error. */
    errorGroup: nullable("text", "error_group"),
    lastErrorAt: nullable("timestamptz", "last_error_at"),
    nextAttemptAt: nullable("timestamptz", "next_attempt_at"),
    /** When it was to start first; null: at once. */
    startAt: nullable("timestamptz", "start_at"),
    /** When its start is tried next, while it is Scheduled. */
    startNextAt: nullable("timestamptz", "start_next_at"),
    /** Why it has not started, although its time has come. */
    startProblem: nullable("text", "start_problem"),
    /** What becomes of it at that time, if there is no worker: `reject` or `queue`. */
    whenFull: nullable("text", "when_full"),
    /** When its handler began again, in the last 10 minutes before the row was written. */
    restartedAt: times("restarted_at"),
    createdAt: column("timestamptz", "created_at"),
    modifiedAt: column("timestamptz", "modified_at"),
    /** The transaction that wrote the row last: readers follow changes by it. */
    changedXid: column("xid8", "changed_xid"),
  },
  indices: [
    { name: "observers_name_of_living", unique: true },
    { name: "observers_name_of_deleted" },
    { name: "observers_newest" },
    { name: "observers_by_status" },
    { name: "observers_by_attempts" },
    { name: "observers_by_error_group" },
    { name: "observers_by_labels" },
    { name: "observers_on_service" },
    { name: "observers_deleted" },
    { name: "observers_changed" },
    { name: "observers_to_start" },
    { name: "observers_silent" },
    { name: "observers_restarted" },
  ],
});

/** Observers counted by pool, type and status: the sum is the count (migration 0001). Written by triggers alone. */
export const ObserverCountsTable = new EntitySchema({
  name: "ObserverCount",
  tableName: "observer_counts",
  columns: {
    // The table has no primary key. TypeORM wants one, but reads and writes nothing by it.
    pool: primary("text"),
    type: primary("text"),
    status: primary("text"),
    count: column("bigint"),
  },
});
