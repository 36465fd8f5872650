import type { EntityManager } from "typeorm";
import { OR_SEND_AGAIN } from "../commands/command-writes.ts";
import { IN_THE_FUTURE } from "../statements/time-ago.ts";

/** A rebalance moves no observer again within this time. */
const STAYS = "interval '10 minutes'";

/** Whether an observer `o` can be moved, as SQL. */
const MOVABLE = "o.status IN ('Processing', 'Retrying') AND o.pending IS NULL";

/**
 * An earlier statement locks what is moved. A single statement that waited for the lock would see the observer as its ledger left it, but
 * the run as it was before that. Indexes: observers_pkey, runs_pkey.
 */
const MOVE = `
  WITH chosen AS MATERIALIZED (
    SELECT o.id, r.id AS run_id, r.message_id, r.revision, r.service_id, r.generation
    FROM observers o JOIN runs r ON r.id = o.current_run_id
    WHERE ${MOVABLE} AND o.id = ANY($3)
  ), noted AS (
    INSERT INTO moves (run_id, observer_id, asked_by, why) SELECT run_id, id, $4, $1 FROM chosen ON CONFLICT (run_id) DO UPDATE SET asked_at = now()
  )
  INSERT INTO commands (kind, observer_id, revision, service_id, generation, run_id, message_id, trace_context)
  SELECT 'move-run', id, revision, service_id, generation, run_id, message_id, $2::text FROM chosen
  ON CONFLICT (run_id) WHERE kind = 'move-run' DO UPDATE SET due_at = now(), claim_id = NULL, claimed_at = NULL RETURNING run_id`;

/**
 * Chooses those that started last: what has run in its place for long stays. Indexes: observers_on_service, runs_pkey,
 * moves_of_observer.
 */
const LOCK_SOME = `
  SELECT o.id FROM observers o JOIN runs r ON r.id = o.current_run_id
  WHERE ${MOVABLE} AND o.current_service_id = $1 AND o.type = $2
    AND NOT EXISTS (SELECT FROM moves m WHERE m.observer_id = o.id AND m.asked_at > now() - ${STAYS} AND NOT m.asked_at ${IN_THE_FUTURE})
  ORDER BY r.started_at DESC, o.id LIMIT $3 FOR UPDATE OF o SKIP LOCKED`;

/** Index: observers_pkey. */
const LOCK_ONE = "SELECT FROM observers WHERE id = $1 FOR UPDATE";

const STEP_ASIDE = `
  INSERT INTO commands (kind, service_id, generation) SELECT 'step-aside', id, generation FROM services WHERE id = ANY($1)
  ${OR_SEND_AGAIN}`;

/** Who asked for a move, and why it is made. */
interface Asked {
  by: string;
  why: string;
}

/** @returns how many were told to move */
export async function moveSome(
  tx: EntityManager,
  { serviceId, type, count }: { serviceId: string; type: string; count: number },
  { by, why }: Asked,
): Promise<number> {
  const locked = await tx.query<{ id: string }[]>(LOCK_SOME, [serviceId, type, count]);
  if (locked.length === 0) return 0;
  return (await tx.query<unknown[]>(MOVE, [why, null, locked.map(({ id }) => id), by])).length;
}

/** While it is locked, nobody changes where it runs. */
export async function lockOne(tx: EntityManager, observerId: string): Promise<void> {
  await tx.query(LOCK_ONE, [observerId]);
}

/** The observer has to be locked (lockOne). @returns whether it could be moved */
export async function moveOne(
  tx: EntityManager,
  observerId: string,
  { by, why }: Asked,
  traceContext: string | undefined,
): Promise<boolean> {
  return (await tx.query<unknown[]>(MOVE, [why, traceContext ?? null, [observerId], by])).length > 0;
}

export async function letStepAside(tx: EntityManager, serviceIds: readonly string[]): Promise<void> {
  if (serviceIds.length > 0) await tx.query(STEP_ASIDE, [serviceIds]);
}
