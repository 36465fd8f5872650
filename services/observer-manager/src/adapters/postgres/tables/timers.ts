import { EntitySchema, type EntitySchemaColumnOptions } from "typeorm";
import { column, nullable, primary, uuids } from "./column.ts";

const COMMON: Record<string, EntitySchemaColumnOptions> = {
  id: primary("uuid"),
  /** The routing key of its message. */
  name: column("text"),
  payload: column("jsonb"),
  dueAt: column("timestamptz", "due_at"),
  expiresAt: column("timestamptz", "expires_at"),
  status: column("text"),
  /** How often no queue took it, or one refused it. */
  returns: column("integer"),
  /** The problem of the last try: `returned`, `refused`, `unknown`. */
  lastProblem: nullable("text", "last_problem"),
  createdAt: column("timestamptz", "created_at"),
};

/** Timers that are not over (docs/decisions/0014-timers.md). */
export const TimersTable = new EntitySchema({
  name: "Timer",
  tableName: "timers",
  columns: {
    ...COMMON,
    /** It is not tried before: `due_at`, or after a failure when it is tried again. */
    nextAt: column("timestamptz", "next_at"),
    /** Nobody said when it expires. */
    defaultExpiry: column("boolean", "default_expiry"),
    /** Somebody may have heard it. */
    unsure: column("boolean"),
  },
  indices: [{ name: "timers_due" }, { name: "timers_again" }, { name: "timers_newest" }, { name: "timers_of_name" }],
});

/** Timers that are over, kept for TIMER_RETENTION_DAYS; and those that are being fired: their claim is there. */
export const EndedTimersTable = new EntitySchema({
  name: "EndedTimer",
  tableName: "ended_timers",
  columns: {
    ...COMMON,
    /** While it is being fired: when it was claimed. */
    endedAt: column("timestamptz", "ended_at"),
    /** The claim by which it was fired; null: by none. */
    claimId: nullable("uuid", "claim_id"),
    /** As in `timers`, for what has to go back there. */
    defaultExpiry: nullable("boolean", "default_expiry"),
    unsure: nullable("boolean"),
  },
  indices: [
    { name: "ended_timers_newest" },
    { name: "ended_timers_unfired" },
    { name: "ended_timers_of_name" },
    { name: "ended_timers_by_end" },
  ],
});

/** One row for all that a manager fires together, until the last of them is confirmed or given back. */
export const TimerClaimsTable = new EntitySchema({
  name: "TimerClaim",
  tableName: "timer_claims",
  columns: {
    id: primary("uuid"),
    /** The manager. */
    owner: column("uuid"),
    /** The ids of timers; some may have been given back since. */
    ids: uuids("ids"),
  },
});

/** One row for each manager that fires. Past its lease, another takes over what it was firing. */
export const TimerOwnersTable = new EntitySchema({
  name: "TimerOwner",
  tableName: "timer_owners",
  columns: { id: primary("uuid"), leaseUntil: column("timestamptz", "lease_until") },
});
