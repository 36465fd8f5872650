import type { CheckpointView, ObserverId } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { fromJsonText } from "../../../domain/json-text.ts";

/** The checkpoint that counts is that of the started run with the highest token. Index: checkpoints_of_observer. */
const NEWEST = `
  SELECT c.*, r.id AS "runId" FROM checkpoints c LEFT JOIN runs r ON r.id = c.run_id
  WHERE c.observer_id = $1 AND c.is_started ORDER BY c.fencing_token DESC LIMIT 1`;

/** The row gets an id of its own, which no run has. After a reset runs count anew: a run that is given nothing begins with 1. */
const SET = `
  INSERT INTO checkpoints (run_id, observer_id, fencing_token, is_started, number, value,
                           previous_number, previous_value, previous_saved_at)
  SELECT gen_random_uuid(), $1::uuid, $2::bigint, true,
         CASE WHEN $3::text IS NULL THEN 0 ELSE coalesce($4::bigint, g.number + 1, 1) END, $3::text,
         g.number, g.value, g.saved_at
  FROM (SELECT) one LEFT JOIN LATERAL (
    SELECT * FROM checkpoints c WHERE c.observer_id = $1::uuid AND c.is_started ORDER BY c.fencing_token DESC LIMIT 1) g ON true`;

/** Deletes older ones of runs that are over. Indexes: checkpoints_of_observer, runs_pkey. */
const FORGET = `
  DELETE FROM checkpoints c WHERE c.observer_id = $1 AND c.fencing_token < $2
    AND NOT EXISTS (SELECT FROM runs r WHERE r.id = c.run_id AND r.state <> 'Ended')`;

interface CheckpointRow {
  runId: string | null;
  number: string;
  value: string | null;
  saved_at: Date;
  previous_number: string | null;
  previous_value: string | null;
  previous_saved_at: Date | null;
}

const NONE: CheckpointView = { number: 0, value: null, savedAt: null, runId: null, previous: null };

export async function readCheckpoint(db: DataSource | EntityManager, id: ObserverId): Promise<CheckpointView> {
  const [row] = await db.query<CheckpointRow[]>(NEWEST, [id]);
  return row === undefined ? NONE : toView(row);
}

export async function setCheckpoint(
  tx: EntityManager,
  id: ObserverId,
  fencingToken: number,
  json: string | null,
  number?: number,
): Promise<void> {
  await tx.query(SET, [id, fencingToken, json, number ?? null]);
  await tx.query(FORGET, [id, fencingToken]);
}

function toView({ runId, number, value, saved_at, ...before }: CheckpointRow): CheckpointView {
  const { previous_number, previous_value, previous_saved_at } = before;
  const hasPrevious = previous_number !== null && previous_value !== null && previous_saved_at !== null;
  return {
    number: Number(number),
    value: valueOf(value),
    savedAt: saved_at.toISOString(),
    runId,
    previous: hasPrevious
      ? { number: Number(previous_number), value: valueOf(previous_value), savedAt: previous_saved_at.toISOString() }
      : null,
  };
}

const valueOf = (json: string | null): unknown => (json === null ? null : fromJsonText(json));
