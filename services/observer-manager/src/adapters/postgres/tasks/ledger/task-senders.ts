import type { ServiceId, TaskTypeInfo } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { TaskNews, Teller } from "../../../../domain/tasks/task-words.ts";
import { AppliedBefore } from "../../../../operations/tasks/ledger/task-ledger-store.ts";
import { prepared } from "../../statements/prepared.ts";

const LAST_SEQS = "SELECT id, last_seq FROM task_services WHERE id = ANY($1)";

export async function lastSeqs(dataSource: DataSource, services: ServiceId[]): Promise<Map<ServiceId, number>> {
  const rows = await dataSource.query<{ id: ServiceId; last_seq: string }[]>(LAST_SEQS, [services]);
  return new Map(rows.map(({ id, last_seq: seq }) => [id, Number(seq)]));
}

/**
 * A service says all of it every five seconds, and mostly the same: its types, which are long with their schemas, are written only if they
 * differ.
 */
const WORKERS = prepared(`
  WITH told AS MATERIALIZED (
    SELECT id, generation, name, pool, workers, draining, types::jsonb AS types, means::jsonb AS means
    FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::int[], $6::boolean[], $7::text[], $8::text[])
      AS u (id, generation, name, pool, workers, draining, types, means)
  ), again AS (
    UPDATE task_services s SET generation = t.generation, workers = t.workers, draining = t.draining, means = t.means, seen_at = now()
    FROM told t WHERE s.id = t.id AND s.types_hash = hashtextextended(t.types::text, 0) RETURNING s.id
  )
  INSERT INTO task_services (id, generation, name, pool, workers, draining, types, means)
  SELECT id, generation, name, pool, workers, draining, types, means FROM told WHERE id NOT IN (SELECT id FROM again)
  ON CONFLICT (id) DO UPDATE SET generation = excluded.generation, workers = excluded.workers, draining = excluded.draining,
    types = excluded.types, means = excluded.means, seen_at = now()`);

export const noteWorkers = (tx: EntityManager, workers: TaskNews["workers"]): Promise<unknown> =>
  tx.query(WORKERS, [
    workers.map((w) => w.serviceId),
    workers.map((w) => w.generation),
    workers.map((w) => w.serviceName),
    workers.map((w) => w.pool),
    workers.map((w) => w.workers),
    workers.map((w) => w.draining),
    workers.map((w) => JSON.stringify(w.types.map(withoutMean))),
    workers.map((w) => JSON.stringify(meansOf(w.types))),
  ]);

function withoutMean(info: TaskTypeInfo): Omit<TaskTypeInfo, "meanMs"> {
  const { meanMs: _, ...type } = info;
  return type;
}

/** The mean running times in ms, by type. */
const meansOf = (types: readonly TaskTypeInfo[]): Record<string, number> =>
  Object.fromEntries(types.flatMap(({ type, meanMs }) => (meanMs === undefined ? [] : [[type, meanMs]])));

/**
 * Asked first, so that two ledgers (a take-over; a commit whose answer was lost) write of a service one after the other, and locked in id
 * order, so that they cannot wait for each other. @returns those services of which nothing from $6 on was applied before: each numbers all
 * that it tells. `isBehind`: something that it told before $6 never was, as the subselect gives the row of before the statement.
 *
 * A service whose row is gone gets one, too: what it told before that may be read late, and then come again. It is given nothing until it
 * says its types.
 */
const SEQS = prepared(`
  INSERT INTO task_services (id, generation, name, pool, workers, draining, types, last_seq)
  SELECT id, generation, name, pool, 0, false, '[]', seq
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::bigint[]) AS u (id, generation, name, pool, seq) ORDER BY id
  ON CONFLICT (id) DO UPDATE SET last_seq = excluded.last_seq, seen_at = now()
    WHERE task_services.last_seq < ($6::bigint[])[array_position($1::uuid[], excluded.id)]
  RETURNING pool, coalesce((SELECT was.last_seq FROM task_services was WHERE was.id = task_services.id), 0)
    < ($6::bigint[])[array_position($1::uuid[], id)] - 1 AS "isBehind"`);

interface NumberedRow {
  pool: string;
  isBehind: boolean;
}

export async function noteSenders(tx: EntityManager, seqs: TaskNews["seqs"]): Promise<NumberedRow[]> {
  const rows = await tx.query<NumberedRow[]>(SEQS, parametersOfSeqs([...seqs.values()]));
  if (rows.length < seqs.size) throw new AppliedBefore("some of this stands in the books");
  return rows;
}

const parametersOfSeqs = (tellers: (Teller & { pool: string; firstSeq: number; seq: number })[]): unknown[] => [
  tellers.map((t) => t.serviceId),
  tellers.map((t) => t.generation),
  tellers.map((t) => t.serviceName),
  tellers.map((t) => t.pool),
  tellers.map((t) => t.seq),
  tellers.map((t) => t.firstSeq),
];

/** The pools of which something that was told before was never read, or is not read whole. */
export function poolsBehind(rows: readonly NumberedRow[], seqs: TaskNews["seqs"]): string[] {
  const between = [...seqs.values()].filter(({ isWhole }) => !isWhole);
  return [...new Set([...rows.filter(({ isBehind }) => isBehind), ...between].map(({ pool }) => pool))];
}

/**
 * Forgets who ended an hour ago, and was last heard of an hour before who was heard of last. This is an hour of the queue, and not of the
 * clock: while nothing is read, as broker or managers are away, nobody grows older. So all that this service told, and what of it comes
 * again, was in front of what has been read since, and its number is not needed any more. Proofs ask for it for less (MAY_HOLD). All of the
 * table is read: a handful of rows.
 */
const FORGET_GONE = `
  DELETE FROM task_services WHERE id IN (
    SELECT t.id FROM task_services t LEFT JOIN services s USING (id)
    WHERE t.seen_at < (SELECT max(seen_at) FROM task_services) - interval '1 hour'
      AND coalesce(s.ended_at < now() - interval '1 hour', s.id IS NULL)
    LIMIT $1 FOR UPDATE OF t SKIP LOCKED)`;

export async function forgetGone(dataSource: DataSource, limit: number): Promise<number> {
  const [, gone] = await dataSource.query<[unknown[], number]>(FORGET_GONE, [limit]);
  return gone;
}
