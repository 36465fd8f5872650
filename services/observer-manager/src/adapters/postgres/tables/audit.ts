import type { AuditEntry } from "@unacked/contracts";
import { EntitySchema } from "typeorm";
import { column, primary } from "./column.ts";

export interface AuditRow {
  id: string;
  at: Date;
  actor: string;
  role: AuditEntry["actor"]["role"];
  authentication: AuditEntry["actor"]["authentication"];
  address: string;
  requestId: string;
  action: AuditEntry["action"];
  count: number;
  targets: AuditEntry["targets"];
  details: AuditEntry["details"];
}

/** Who did what, kept for RETENTION_DAYS. An action of several transactions is one row, which each adds to. */
export const AuditTable = new EntitySchema<AuditRow>({
  name: "Audit",
  tableName: "audit",
  columns: {
    id: primary("uuid"),
    at: column("timestamptz"),
    actor: column("text"),
    /** viewer, operator, admin */
    role: column("text"),
    /** token, oidc, anonymous, broker */
    authentication: column("text"),
    address: column("text"),
    requestId: column("text", "request_id"),
    /** Until 0.2.0 it was called a deed. */
    action: column("text", "deed"),
    /** How many things it was done to, also beyond the targets that are named. */
    count: column("integer"),
    targets: column("jsonb"),
    details: column("jsonb"),
  },
  indices: [
    { name: "audit_newest" },
    { name: "audit_of_actor" },
    { name: "audit_of_deed" },
    { name: "audit_of_request" },
    { name: "audit_of_targets" },
  ],
});
