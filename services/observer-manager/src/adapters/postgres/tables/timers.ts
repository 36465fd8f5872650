import { EntitySchema, type EntitySchemaColumnOptions } from "typeorm";
import { column, nullable, primary } from "./column.ts";

const COMMON: Record<string, EntitySchemaColumnOptions> = {
  id: primary("uuid"),
  /** The routing key of its message. */
  name: column("text"),
  payload: column("jsonb"),
  dueAt: column("timestamptz", "due_at"),
  expiresAt: column("timestamptz", "expires_at"),
  status: column("text"),
  /** How often no queue took it. */
  returns: column("integer"),
  /** Of the last try: `returned`, `refused`, `unknown`. */
  lastProblem: nullable("text", "last_problem"),
  createdAt: column("timestamptz", "created_at"),
};

/** What is not over (docs/decisions/0014-timers.md). */
export const TimersTable = new EntitySchema({
  name: "Timer",
  tableName: "timers",
  columns: {
    ...COMMON,
    /** Not tried before: `due_at`, or after a failure when it is tried again. */
    nextAt: column("timestamptz", "next_at"),
    /** Nobody said when it expires. */
    defaultExpiry: column("boolean", "default_expiry"),
    /** The manager that is firing it just now; null: none. */
    owner: nullable("uuid"),
    /** Of the claim by which it is its owner's: what became of an older one changes nothing, but that it fired. */
    claimId: nullable("uuid", "claim_id"),
    /** Somebody may have heard it. */
    unsure: column("boolean"),
  },
  indices: [{ name: "timers_due" }, { name: "timers_returned" }, { name: "timers_newest" }, { name: "timers_of_name" }],
});

/** What is over, kept for TIMER_RETENTION_DAYS. */
export const EndedTimersTable = new EntitySchema({
  name: "EndedTimer",
  tableName: "ended_timers",
  columns: { ...COMMON, endedAt: column("timestamptz", "ended_at") },
  indices: [{ name: "ended_timers_newest" }, { name: "ended_timers_of_name" }, { name: "ended_timers_by_end" }],
});

/** One row a manager that fires. Past its lease, what it was firing is another's. */
export const TimerOwnersTable = new EntitySchema({
  name: "TimerOwner",
  tableName: "timer_owners",
  columns: { id: primary("uuid"), leaseUntil: column("timestamptz", "lease_until") },
});
