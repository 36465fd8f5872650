import { type ObserverId, type ObserverSpec, SPEC_FIELD_NAMES, type SpecField } from "@unacked/contracts";
import type { EntityManager } from "typeorm";

interface Column {
  type: "jsonb" | "text";
  write(value: unknown): unknown;
}

const TEXT: Column = { type: "text", write: (value) => value };
const JSONB: Column = { type: "jsonb", write: (value) => JSON.stringify(value) };
const NULLABLE_JSONB: Column = { type: "jsonb", write: (value) => (value === null ? null : JSON.stringify(value)) };

/** The column of each field, which has the field's name. */
const COLUMNS: Record<SpecField, Column> = {
  params: JSONB,
  labels: JSONB,
  retry: JSONB,
  pool: TEXT,
  silence: NULLABLE_JSONB,
};

/** Index: observers_pkey. */
const WRITE = `
  UPDATE observers SET ${SPEC_FIELD_NAMES.map((field, i) => `${field} = $${i + 2}::${COLUMNS[field].type}`).join(", ")},
         modified_at = now(), changed_xid = pg_current_xact_id()
  WHERE id = $1`;

export async function writeSpec(tx: EntityManager, id: ObserverId, spec: ObserverSpec): Promise<void> {
  await tx.query(WRITE, [id, ...SPEC_FIELD_NAMES.map((field) => COLUMNS[field].write(spec[field]))]);
  await tx.query("NOTIFY unacked_changes");
}
