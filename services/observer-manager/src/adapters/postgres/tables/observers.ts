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
    /** Its run has had no beat since, and longer than it may; counts while it is Processing. */
    silentSince: nullable("timestamptz", "silent_since"),
    /** libs/contracts, observer-status.ts */
    status: column("text"),
    /** What is under way beside the status: `pause`, `update`, or nothing. */
    pending: nullable("text"),
    /** Counted up with each new message: a run of an older one is obsolete. */
    revision: column("integer"),
    /** Counts what was wanted of it (libs/contracts, observer-spec.ts). */
    specVersion: column("integer", "spec_version"),
    /** What a run must have of that at least to be as is wanted. */
    neededSpecVersion: column("integer", "needed_spec_version"),
    /** What the message of the present revision has at least. */
    sentSpecVersion: column("integer", "sent_spec_version"),
    /** Of the current run. */
    observedSpecVersion: nullable("integer", "observed_spec_version"),
    /** What its run does not take as it runs, why, and the params that it keeps. */
    rejectedUpdate: nullable("jsonb", "rejected_update"),
    /** Where its message is, while it is wanted in another pool, or was left as it was deleted by force; null of one that was not. */
    messagePool: nullable("text", "message_pool"),
    /** Runs so far. */
    epoch: column("integer"),
    /** The highest that a run of it was given; null: none was. */
    fencingToken: nullable("bigint", "fencing_token"),
    currentRunId: nullable("uuid", "current_run_id"),
    /** The run that waits for its admission. */
    requestedRunId: nullable("uuid", "requested_run_id"),
    currentServiceId: nullable("uuid", "current_service_id"),
    /** Of the present series of failures. */
    attempts: column("integer"),
    lastError: nullable("jsonb", "last_error"),
    /** What errors that say the same have in common; there if and only if there is an error. */
    errorGroup: nullable("text", "error_group"),
    lastErrorAt: nullable("timestamptz", "last_error_at"),
    nextAttemptAt: nullable("timestamptz", "next_attempt_at"),
    /** When it was to start first; null: at once. */
    startAt: nullable("timestamptz", "start_at"),
    /** When that is tried next, while it is Scheduled. */
    startNextAt: nullable("timestamptz", "start_next_at"),
    /** Why it has not, although its time has come. */
    startProblem: nullable("text", "start_problem"),
    /** What is to become of it then, if there is no worker: `reject` or `queue`. */
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
    // There is none; TypeORM wants one, and nothing is read or written by it.
    pool: primary("text"),
    type: primary("text"),
    status: primary("text"),
    count: column("bigint"),
  },
});
