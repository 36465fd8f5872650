import { EntitySchema } from "typeorm";
import { column, identity, nullable, uuids } from "./column.ts";

export interface ErrorRow {
  /** A bigint: pg gives text. */
  id: string;
  messageId: string | null;
  reason: string;
  detail: string;
  group: string;
  queue: string;
  observerId: string | null;
  runId: string | null;
  reporter: string;
  body: string;
  bodyBytes: number;
  at: Date;
}

/** Messages that could not be read or were given up, kept for RETENTION_DAYS. */
export const ErrorsTable = new EntitySchema<ErrorRow>({
  name: "Error",
  tableName: "errors",
  columns: {
    id: identity(),
    /** The id of the report, so that one that comes twice is one row. */
    messageId: { ...nullable("uuid", "message_id"), unique: true },
    reason: column("text"),
    detail: column("text"),
    /** The same for all details that say the same (domain/errors/error-group.ts). */
    group: column("text", "error_group"),
    queue: column("text"),
    observerId: nullable("uuid", "observer_id"),
    runId: nullable("uuid", "run_id"),
    reporter: column("text"),
    /** The body may be cut. */
    body: column("text"),
    /** The length of the body before it was cut. */
    bodyBytes: column("integer", "body_bytes"),
    at: column("timestamptz"),
  },
  indices: [{ name: "errors_by_group" }, { name: "errors_by_time" }, { name: "errors_of_observer" }],
});

/** Events that no manager has understood so far, each with its error. */
export const UnappliedEventsTable = new EntitySchema({
  name: "UnappliedEvent",
  tableName: "unapplied_events",
  columns: {
    position: identity(),
    errorMessageId: column("uuid", "error_message_id"),
    observerIds: uuids("observer_ids"),
    /** A batch with only this event, as it came. */
    batch: column("text"),
  },
  indices: [{ name: "unapplied_events_of_message", unique: true }, { name: "unapplied_events_of_observers" }],
});
