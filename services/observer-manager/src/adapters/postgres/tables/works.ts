import { EntitySchema } from "typeorm";
import { column, nullable, primary } from "./column.ts";

/** What is asked of very many observers, step by step; kept for RETENTION_DAYS (docs/decisions/0024-bulk-work.md). */
export const WorksTable = new EntitySchema({
  name: "Work",
  tableName: "works",
  columns: {
    id: primary("uuid"),
    /** What is to be done, and of whom. */
    wish: column("jsonb"),
    /** Who began it. */
    actor: column("jsonb"),
    /** The entry of the audit trail that each step adds to. */
    auditId: column("uuid", "audit_id"),
    status: column("text"),
    /** How many matched when it began. */
    total: column("integer"),
    accepted: column("integer"),
    /** By code: how many, and the names of the first of them. */
    refused: column("jsonb"),
    /** The id of the last that was reached; null: none yet. */
    place: nullable("uuid"),
    /** When a step of it was done last: the one that has waited longest is next. */
    turnAt: column("timestamptz", "turn_at"),
    createdAt: column("timestamptz", "created_at"),
    endedAt: nullable("timestamptz", "ended_at"),
    cancelledBy: nullable("text", "cancelled_by"),
    /** Why its last step could not be done; null: it could, or none was tried. */
    problem: nullable("text"),
  },
  indices: [{ name: "works_running" }, { name: "works_newest" }, { name: "works_by_end" }],
});
