import { EntitySchema } from "typeorm";
import { column, nullable, primary } from "./column.ts";

/** What happens by the calendar (docs/decisions/0016-schedules.md). */
export const SchedulesTable = new EntitySchema({
  name: "Schedule",
  tableName: "schedules",
  columns: {
    /** Chosen by the client. */
    id: primary("text"),
    /** `task`: it makes tasks · `observers`: it wants them running, or paused. */
    kind: column("text"),
    /** The type of its task; null: it has none. */
    type: nullable("text"),
    /** All that somebody wants of it (domain/schedules/definition.ts). */
    definition: column("jsonb"),
    version: column("integer"),
    /** The first time that nothing was decided about; null: paused, or over. */
    nextAt: nullable("timestamptz", "next_at"),
    /** When somebody has to look; null: paused, or over. */
    dueAt: nullable("timestamptz", "due_at"),
    /** The last time that something was decided about: it never goes back behind that, whatever the clock does. */
    lastAt: nullable("timestamptz", "last_at"),
    /** What it wants of observers: `running`, `paused`; and since when. */
    wanted: nullable("text"),
    changeAt: nullable("timestamptz", "change_at"),
    pausedAt: nullable("timestamptz", "paused_at"),
    pausedBy: nullable("text", "paused_by"),
    /** How many rows it has in `occurrences`: by this number they are trimmed now and then. */
    occurrences: column("integer"),
    /** How many times it missed in all. */
    missed: column("bigint"),
    /** Why it cannot go on. */
    problem: nullable("text"),
    createdAt: column("timestamptz", "created_at"),
    updatedAt: column("timestamptz", "updated_at"),
  },
  indices: [{ name: "schedules_due" }],
});

/** What became of each time. */
export const OccurrencesTable = new EntitySchema({
  name: "Occurrence",
  tableName: "occurrences",
  columns: {
    scheduleId: primary("text", "schedule_id"),
    at: primary("timestamptz"),
    status: column("text"),
    cause: column("text"),
    /** Why it was skipped, or missed. */
    reason: nullable("text"),
    /** What it has created, or what was in its way. */
    taskId: nullable("uuid", "task_id"),
    /** Its task was not over when that was last looked at. */
    open: column("boolean"),
    /** For observers: what was wanted, and how many were changed. */
    wanted: nullable("text"),
    changed: column("integer"),
    lateMs: column("bigint", "late_ms"),
    /** How many times before it were missed and have no row. */
    earlierMissed: column("integer", "earlier_missed"),
    askedBy: nullable("text", "asked_by"),
    /** The id and the policy of the request, if it had them: asked again it is not made twice. */
    requestId: nullable("uuid", "request_id"),
    requestOverlap: nullable("text", "request_overlap"),
    version: column("integer"),
    decidedAt: column("timestamptz", "decided_at"),
  },
  indices: [{ name: "occurrences_open" }, { name: "occurrences_queued" }, { name: "occurrences_asked", unique: true }],
});

/** Observers that were brought to what a schedule has wanted since `change_at`: what somebody does to them after that holds. */
export const ScheduleObserversTable = new EntitySchema({
  name: "ScheduleObserver",
  tableName: "schedule_observers",
  columns: {
    scheduleId: primary("text", "schedule_id"),
    observerId: primary("uuid", "observer_id"),
    changeAt: column("timestamptz", "change_at"),
  },
});
