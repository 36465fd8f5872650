import type { EntityManager } from "typeorm";
import { TO_A_GENERATION } from "../commands/command-writes.ts";

/** So long nobody is moved again by a rebalance. */
const STAYS = "interval '10 minutes'";

const NOTED_AND_ORDERED = `
  noted AS (
    INSERT INTO moves (run_id, observer_id, why) SELECT run_id, id, $1 FROM chosen ON CONFLICT (run_id) DO UPDATE SET asked_at = now()
  )
  INSERT INTO commands (kind, observer_id, revision, service_id, generation, run_id, message_id, trace_context)
  SELECT 'move-run', id, revision, service_id, generation, run_id, message_id, $2::text FROM chosen
  ON CONFLICT (run_id) WHERE kind = 'move-run' DO UPDATE SET due_at = now(), claim_id = NULL, claimed_at = NULL RETURNING run_id`;

const MOVABLE = `
  SELECT o.id, r.id AS run_id, r.message_id, r.revision, r.service_id, r.generation
  FROM observers o JOIN runs r ON r.id = o.current_run_id
  WHERE o.status IN ('Processing', 'Retrying') AND o.pending IS NULL`;

/** Those that came last: what has run for long in its place stays. Indexes: observers_on_service, runs_pkey, moves_of_observer. */
const MOVE_SOME = `
  WITH chosen AS MATERIALIZED (
    ${MOVABLE} AND o.current_service_id = $3 AND o.type = $4
      AND NOT EXISTS (SELECT FROM moves m WHERE m.observer_id = o.id AND m.asked_at > now() - ${STAYS})
    ORDER BY r.started_at DESC, o.id LIMIT $5 FOR UPDATE OF o SKIP LOCKED
  ), ${NOTED_AND_ORDERED}`;

/** Indexes: observers_pkey, runs_pkey. */
const MOVE_ONE = `
  WITH chosen AS MATERIALIZED (${MOVABLE} AND o.id = $3 FOR UPDATE OF o), ${NOTED_AND_ORDERED}`;

/** Index: commands_one_per_generation. */
const STEP_ASIDE = `
  INSERT INTO commands (kind, service_id, generation) SELECT 'step-aside', id, generation FROM services WHERE id = ANY($1)
  ON CONFLICT (service_id, generation, kind) WHERE kind IN (${TO_A_GENERATION})
  DO UPDATE SET due_at = now(), claim_id = NULL, claimed_at = NULL`;

/** @returns how many were told to move */
export async function moveSome(
  tx: EntityManager,
  { serviceId, type, count }: { serviceId: string; type: string; count: number },
  why: string,
): Promise<number> {
  return (await tx.query<unknown[]>(MOVE_SOME, [why, null, serviceId, type, count])).length;
}

/** @returns whether it was there to be moved */
export async function moveOne(
  tx: EntityManager,
  observerId: string,
  why: string,
  traceContext: string | undefined,
): Promise<boolean> {
  return (await tx.query<unknown[]>(MOVE_ONE, [why, traceContext ?? null, observerId])).length > 0;
}

export async function letStepAside(tx: EntityManager, serviceIds: readonly string[]): Promise<void> {
  if (serviceIds.length > 0) await tx.query(STEP_ASIDE, [serviceIds]);
}
