import type { DataSource } from "typeorm";
import type { TaskCounts } from "../../../operations/tasks/task-store.ts";
import { intSum } from "../connection/int-sum.ts";
import { ANNOUNCED, isServed, TASK_SERVICE_LIVES } from "./task-claim.ts";

/** All of `tasks` is read; a million rows cost some 0.2 s. */
const BY_TYPE = "SELECT type, status, count(*)::int AS count FROM tasks GROUP BY 1, 2 ORDER BY 3 DESC";

/**
 * Workers of living services that do not drain; how many would leave no task waiting, as a call for many takes one. What is worked outside needs none:
 * what is taken, and what waits of a type that is and which no service has.
 */
const POOLS = `
  WITH kinds AS (
    SELECT pool, type, count(*)::int AS wanted, min(due_at) FILTER (WHERE status = 'Ready') AS oldest
    FROM tasks WHERE status IN ('Ready', 'Sent', 'Running') AND lease_until IS NULL GROUP BY pool, type
  ), announced AS (${ANNOUNCED}
  ), waiting AS (
    SELECT k.pool, sum(ceil(k.wanted::numeric / coalesce(a."batchSize", 1)))::int AS wanted, extract(epoch FROM unacked_now() - min(k.oldest))::float8 AS oldest
    FROM kinds k LEFT JOIN announced a USING (pool, type) LEFT JOIN task_types l ON l.type = k.type AND l.outside
    WHERE l.type IS NULL OR ${isServed("k.pool", "k.type")} GROUP BY k.pool
  ), able AS (
    SELECT pool, ${intSum("workers")} AS workers FROM task_services
    WHERE ${TASK_SERVICE_LIVES} AND NOT draining AND workers > 0 GROUP BY pool)
  SELECT pool, coalesce(workers, 0) AS workers, coalesce(wanted, 0) AS wanted, greatest(0, coalesce(oldest, 0)) AS "oldestReadyS"
  FROM waiting FULL JOIN able USING (pool) ORDER BY wanted DESC, pool`;

/** Read at a scrape. */
export async function countTasks(dataSource: DataSource): Promise<TaskCounts> {
  const [byType, pools] = await Promise.all([dataSource.query(BY_TYPE), dataSource.query(POOLS)]);
  return { byType, pools };
}
