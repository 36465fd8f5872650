import { AWAITING_STATUSES, OCCUPYING_STATUSES } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { DrainState } from "../../../domain/books/service-book.ts";
import type { FreeWorkers } from "../../../operations/observers/workers-left.ts";
import { LIVING_STATES } from "../services/service-states.ts";
import { prepared } from "../statements/prepared.ts";
import { literals } from "../statements/sql-conditions.ts";

/** Observers by pool, type and status, kept by triggers (migrations/0001-books.ts): the counts are the sums of its rows. */
export const OBSERVER_COUNTS = "observer_counts";

const OCCUPYING = literals(OCCUPYING_STATUSES);

/** Observers that take a worker, or await one, by pool. */
export const OCCUPIED_BY_POOL = `
  SELECT pool, sum(count)::int AS occupied FROM observer_counts WHERE status IN (${OCCUPYING})
  GROUP BY pool HAVING sum(count) <> 0`;

/**
 * Observers that are counted in their pool but wait in the queue of another, which they are to leave: until somebody there has a worker
 * free. Index: observers_by_status, of those that wait.
 */
export const WAITING_ELSEWHERE = `
  SELECT pool, type, count(*)::int AS count FROM observers
  WHERE status IN (${literals(AWAITING_STATUSES)}) AND message_pool IS NOT NULL GROUP BY pool, type`;

/** Drain states of services that take nothing new but keep what they run: that needs no worker of others. */
export const KEEPING = literals(["cordon-asked", "cordoned", "lift-asked"] satisfies DrainState[]);

/** Reading so many takes about as long as a round trip. */
const MANY_ROWS = 500;

/** Indexes: services_living, observers_on_service. `isLong`: there are many counts, all pools together, and half as many would say the same. */
const FREE_WORKERS = prepared(`
  WITH living AS MATERIALIZED (
    SELECT worker_count, type_facts FROM services WHERE pool = $1 AND state IN (${LIVING_STATES}) AND drain = 'none'
  ), kept AS MATERIALIZED (
    SELECT o.type, o.count FROM services s CROSS JOIN LATERAL (
      SELECT type, count(*) AS count FROM observers WHERE current_service_id = s.id AND pool = $1 GROUP BY type) o
    WHERE s.pool = $1 AND s.state IN (${LIVING_STATES}) AND s.drain IN (${KEEPING})
  ), taken AS MATERIALIZED (
    SELECT type, sum(count) AS count FROM (
      SELECT type, count FROM observer_counts WHERE pool = $1 AND status IN (${OCCUPYING})
      UNION ALL SELECT type, -count FROM kept) counted GROUP BY type
  )
  SELECT (SELECT coalesce(sum(worker_count), 0) FROM living) - (SELECT coalesce(sum(count), 0) FROM taken) AS free,
         CASE WHEN (SELECT count(*) FROM observer_counts) > ${MANY_ROWS}
              THEN (SELECT count(*) > 2 * count(DISTINCT (pool, type, status)) FROM observer_counts) ELSE false END AS "isLong",
         (SELECT json_object_agg(wanted.type, (SELECT coalesce(sum(worker_count), 0) FROM living
                   WHERE type_facts @> jsonb_build_array(jsonb_build_object('type', wanted.type))) - coalesce(taken.count, 0))
          FROM unnest($2::text[]) AS wanted (type) LEFT JOIN taken USING (type)) AS "ofType"`);

/** Rows that others have not committed yet stay as they are, and so do those that somebody else folds just then: nobody waits. */
const FOLD = `
  WITH folded AS (
    DELETE FROM observer_counts WHERE ctid = ANY(ARRAY(SELECT ctid FROM observer_counts FOR UPDATE SKIP LOCKED))
    RETURNING pool, type, status, count)
  INSERT INTO observer_counts SELECT pool, type, status, sum(count) FROM folded
  GROUP BY pool, type, status HAVING sum(count) <> 0`;

/** To be called under the pool's lock, so that the answer holds. */
export async function readFreeWorkers(tx: EntityManager, pool: string, types: readonly string[]): Promise<FreeWorkers> {
  const [row] = await tx.query<[FreeWorkersRow]>(FREE_WORKERS, [pool, types]);
  if (row.isLong) await foldCounts(tx);
  return { ofPool: Number(row.free), ofType: new Map(Object.entries(row.ofType ?? {})) };
}

type FreeWorkersRow = { free: string; isLong: boolean; ofType: Record<string, number> | null };

export async function foldCounts(tx: Pick<DataSource, "query">): Promise<void> {
  await tx.query(FOLD);
}
