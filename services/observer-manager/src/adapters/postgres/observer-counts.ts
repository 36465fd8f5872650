import { OCCUPYING_STATUSES } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";

/** Observers by pool, type and status, kept by triggers (migrations/0001-books.ts): the counts are the sums of its rows. */
export const OBSERVER_COUNTS = "observer_counts";

const OCCUPYING = OCCUPYING_STATUSES.map((status) => `'${status}'`).join(", ");

/** Observers that take a worker, or await one, by pool. */
export const OCCUPIED_BY_POOL = `
  SELECT pool, sum(count)::int AS occupied FROM observer_counts WHERE status IN (${OCCUPYING})
  GROUP BY pool HAVING sum(count) <> 0`;

/** Index: services_living. `rows`: how many counts there are, all pools together. */
const FREE_WORKERS = `
  SELECT (SELECT coalesce(sum(worker_count), 0) FROM services
          WHERE pool = $1 AND state IN ('Alive', 'Suspect') AND drain = 'none')
       - coalesce(sum(count) FILTER (WHERE pool = $1 AND status IN (${OCCUPYING})), 0) AS free,
         count(*)::int AS rows
  FROM observer_counts`;

/** Rows that others have not committed yet stay as they are, and two that fold at once find each row once. */
const FOLD = `
  WITH folded AS (DELETE FROM observer_counts RETURNING pool, type, status, count)
  INSERT INTO observer_counts SELECT pool, type, status, sum(count) FROM folded
  GROUP BY pool, type, status HAVING sum(count) <> 0`;

/** Reading so many takes about as long as a round trip. */
const MANY_ROWS = 500;

/** Workers of living services less observers that take or await one; under the pool's lock, so that the answer holds. */
export async function readFreeWorkers(tx: EntityManager, pool: string): Promise<number> {
  const [row] = await tx.query<{ free: string; rows: number }[]>(FREE_WORKERS, [pool]);
  if (row !== undefined && row.rows > MANY_ROWS) await foldCounts(tx);
  return Number(row?.free ?? 0);
}

export async function foldCounts(tx: Pick<DataSource, "query">): Promise<void> {
  await tx.query(FOLD);
}
