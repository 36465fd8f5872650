import type { DataSource } from "typeorm";
import type { TaskCounts } from "../../../../operations/tasks/figures/task-counts.ts";
import { intSum } from "../../statements/int-sum.ts";
import { COUNTED } from "../claims/claim-terms.ts";
import { ANNOUNCED, isServed, TASK_SERVICE_LIVES } from "../task-services.ts";

/** All of `tasks` is read; a million rows cost some 0.2 s. */
const BY_TYPE = "SELECT type, status, count(*)::int AS count FROM tasks GROUP BY 1, 2 ORDER BY 3 DESC";

/**
 * How many of type `l` may start within a second, as SQL: more workers would not help what else waits. @param inFlight of it, in all pools
 */
const mayStart = (inFlight: string): string => `
  CASE WHEN l.paused THEN 0 ELSE greatest(0, coalesce(least(l.max_running - ${inFlight}, l.rate_per_second), 2147483647)) END`;

/** Without what is due since -infinity: of that there is no difference. @param where as SQL, of `waiting` below */
const oldestS = (where: string): string =>
  `extract(epoch FROM unacked_now() - min(w.oldest) FILTER (WHERE w.oldest > '-infinity' AND ${where}))::float8`;

/**
 * The workers of living services that do not drain, and how many would leave no task waiting that may start: a call for many takes one, and
 * so does a lane. What is worked outside needs none: what is taken, and what waits of such a type that no service has. What is paused waits
 * for no worker. What waits of a type that none of its services has is not helped by more of them; where none lives, the first may have it.
 */
const POOLS = `
  WITH ready AS (
    SELECT pool, type, count(*)::int AS count, min(due_at) AS oldest FROM tasks WHERE status = 'Ready' GROUP BY pool, type
  ), flight AS (
    SELECT pool, type, (${COUNTED})::int AS count, count(t.lease_until)::int AS taken
    FROM tasks t WHERE status IN ('Sent', 'Running') GROUP BY pool, type
  ), kinds AS (
    SELECT pool, type, coalesce(r.count, 0) AS ready, r.oldest, coalesce(f.count - f.taken, 0) AS held
    FROM ready r FULL JOIN flight f USING (pool, type)
  ), able AS (
    SELECT pool, ${intSum("workers")} AS workers FROM task_services
    WHERE ${TASK_SERVICE_LIVES} AND NOT draining AND workers > 0 GROUP BY pool
  ), wanting AS (
    SELECT k.pool, k.type, CASE WHEN NOT coalesce(l.paused, false) THEN k.oldest END AS oldest,
      coalesce(l.outside, false) AND NOT served AS untaken, k.held + CASE WHEN served OR a.pool IS NULL THEN
        least(k.ready, ${mayStart("coalesce((SELECT sum(e.count) FROM flight e WHERE e.type = k.type), 0)")}) ELSE 0 END AS wanted
    FROM kinds k CROSS JOIN LATERAL (SELECT ${isServed("k.pool", "k.type")} AS served) has LEFT JOIN able a ON a.pool = k.pool
      LEFT JOIN task_types l ON l.type = k.type
  ), announced AS (${ANNOUNCED}
  ), waiting AS (
    SELECT w.pool, sum(ceil(w.wanted::numeric / coalesce(a."batchSize", 1))) FILTER (WHERE NOT w.untaken)::int AS wanted,
      ${oldestS("NOT w.untaken")} AS oldest, ${oldestS("w.untaken")} AS untaken
    FROM wanting w LEFT JOIN announced a USING (pool, type) GROUP BY w.pool)
  SELECT pool, coalesce(workers, 0) AS workers, coalesce(wanted, 0) AS wanted, greatest(0, coalesce(oldest, 0)) AS "oldestReadyS",
    greatest(0, coalesce(untaken, 0)) AS "oldestUntakenS"
  FROM waiting FULL JOIN able USING (pool) ORDER BY wanted DESC, pool`;

/** It is read at each scrape of the metrics. */
export async function countTasks(dataSource: DataSource): Promise<TaskCounts> {
  const [byType, pools] = await Promise.all([dataSource.query(BY_TYPE), dataSource.query(POOLS)]);
  return { byType, pools };
}
