import type { EntityManager } from "typeorm";
import type { Books } from "../../../domain/books/books.ts";
import { allInOrder } from "../../../operations/all-in-order.ts";

/**
 * Index: checkpoints_pkey. The last two are kept. An older checkpoint, from a redelivery, changes nothing. If the kept one has the same
 * number and another value, it is from before a reset that restored books do not know, and is replaced.
 */
const SAVE = `
  INSERT INTO checkpoints AS c (run_id, observer_id, fencing_token, is_started, number, value)
  SELECT run_id, observer_id, fencing_token, true, number, value
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::text[]) AS u (run_id, observer_id, fencing_token, number, value)
  ON CONFLICT (run_id) DO UPDATE SET
    previous_number = c.number, previous_value = c.value, previous_saved_at = c.saved_at,
    fencing_token = excluded.fencing_token, is_started = true, number = excluded.number, value = excluded.value, saved_at = now()
  WHERE c.number < excluded.number OR (c.number = excluded.number AND c.value IS DISTINCT FROM excluded.value)`;

/** A run is given the checkpoint of the started run with the highest token. Index: checkpoints_of_observer. */
const GIVEN = `
  CROSS JOIN LATERAL (
    SELECT * FROM checkpoints of
    WHERE of.observer_id = u.observer_id AND of.is_started AND of.run_id <> u.run_id AND of.fencing_token <= u.fencing_token
    ORDER BY of.fencing_token DESC LIMIT 1) g`;

const COLUMNS = `(run_id, observer_id, fencing_token, is_started, number, value, saved_at,
                                previous_number, previous_value, previous_saved_at)`;

/** A conflict means that the run asks once more. */
const GIVE = `
  INSERT INTO checkpoints AS c ${COLUMNS}
  SELECT u.run_id, u.observer_id, u.fencing_token, false, g.number, g.value, g.saved_at,
         g.previous_number, g.previous_value, g.previous_saved_at
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[]) AS u (run_id, observer_id, fencing_token) ${GIVEN}
  ON CONFLICT (run_id) DO UPDATE SET
    fencing_token = excluded.fencing_token, number = excluded.number, value = excluded.value, saved_at = excluded.saved_at,
    previous_number = excluded.previous_number, previous_value = excluded.previous_value,
    previous_saved_at = excluded.previous_saved_at
  WHERE NOT c.is_started`;

/**
 * For runs to which these books gave nothing: their keeper has admitted them, or an older dump was restored. A checkpoint with a higher
 * number than the run says is from before a reset that the dump does not know; the run then counts as without one until it has told its
 * own.
 */
const START = `
  INSERT INTO checkpoints AS c ${COLUMNS}
  SELECT u.run_id, u.observer_id, u.fencing_token, true, coalesce(k.number, 0), k.value, coalesce(k.saved_at, now()),
         k.previous_number, k.previous_value, k.previous_saved_at
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) AS u (run_id, observer_id, fencing_token, number) ${GIVEN}
  LEFT JOIN LATERAL (SELECT g.*) k ON g.number <= u.number
  ON CONFLICT (run_id) DO UPDATE SET is_started = true, fencing_token = excluded.fencing_token
  RETURNING run_id AS "runId", xmax = 0 AS "isNew"`;

/** Deletes what no run is given any more: a later run has started, and its own run is over. Indexes: checkpoints_of_observer, runs_pkey. */
const FORGET = `
  DELETE FROM checkpoints c USING unnest($1::uuid[], $2::bigint[]) AS u (observer_id, fencing_token)
  WHERE c.observer_id = u.observer_id AND c.fencing_token < u.fencing_token
    AND NOT EXISTS (SELECT FROM runs r WHERE r.id = c.run_id AND r.state <> 'Ended')`;

/**
 * Asks runs that have saved more than is known of them here (an older dump does not hold that), and those that were not known, as an equal
 * number may be from before a reset. Indexes: checkpoints_pkey, runs_pkey.
 */
const ASK = `
  INSERT INTO commands (kind, observer_id, run_id, message_id, revision, service_id, generation)
  SELECT 'tell-checkpoint', r.observer_id, r.id, r.message_id, r.revision, r.service_id, r.generation
  FROM unnest($1::uuid[], $2::bigint[]) AS u (run_id, number)
    JOIN runs r ON r.id = u.run_id AND r.state <> 'Ended'
    LEFT JOIN checkpoints c ON c.run_id = u.run_id
  WHERE coalesce(c.number, 0) < u.number OR (u.number > 0 AND u.run_id = ANY($3))
  ON CONFLICT DO NOTHING
  RETURNING id`;

/**
 * Writes in the order in which things are told: whoever asks behind a save is given what was saved. The rows of their runs are sent before,
 * in the same turn, and so is all but what depends on the answer to START.
 */
export async function writeCheckpoints(tx: EntityManager, books: Books): Promise<void> {
  await allInOrder([save(tx, books), give(tx, books), start(tx, books)]);
}

function save(tx: EntityManager, { savedCheckpoints }: Books): Promise<unknown> | undefined {
  const saved = [...savedCheckpoints];
  if (saved.length === 0) return undefined;
  return tx.query(SAVE, [
    saved.map(([runId]) => runId),
    saved.map(([, { observerId }]) => observerId),
    saved.map(([, { fencingToken }]) => fencingToken),
    saved.map(([, { number }]) => number),
    saved.map(([, { value }]) => value),
  ]);
}

function give(tx: EntityManager, { givenCheckpoints, runs }: Books): Promise<unknown> | undefined {
  const given = [...givenCheckpoints];
  if (given.length === 0) return undefined;
  return tx.query(GIVE, [
    given.map(([runId]) => runId),
    given.map(([, observerId]) => observerId),
    given.map(([runId]) => runs.get(runId)?.fencingToken ?? 0),
  ]);
}

async function start(tx: EntityManager, { startedSavers }: Books): Promise<void> {
  const started = [...startedSavers];
  if (started.length === 0) return;
  const observerIds = started.map(([, { observerId }]) => observerId);
  const tokens = started.map(([, { fencingToken }]) => fencingToken);
  const runIds = started.map(([runId]) => runId);
  const numbers = started.map(([, { number }]) => number);
  const rows = await tx.query<{ runId: string; isNew: boolean }[]>(START, [runIds, observerIds, tokens, numbers]);
  const unknown = rows.flatMap(({ runId, isNew }) => (isNew ? [runId] : []));
  const [, asked] = await allInOrder([
    tx.query(FORGET, [observerIds, tokens]),
    tx.query<unknown[]>(ASK, [runIds, numbers, unknown]),
  ]);
  if (asked.length > 0) await tx.query("NOTIFY unacked_commands");
}
