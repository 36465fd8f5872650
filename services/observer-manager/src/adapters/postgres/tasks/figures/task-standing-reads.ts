import type { DataSource } from "typeorm";
import type { TaskStandings } from "../../../../domain/tasks/figures-overview.ts";
import { intSum } from "../../statements/int-sum.ts";
import { TASK_SERVICE_LIVES } from "../task-services.ts";

/** At most so many waiting tasks are counted, of each type in each pool. */
const MOST = 10_000;

/**
 * The oldest of a kind `k`, among the first of each priority: the one that waits longest may be behind more than are counted. It takes a
 * probe for each priority that waits, of which there are a handful, and 2,001 at most. Index: tasks_ready_of_type.
 */
const OLDEST = `
  WITH RECURSIVE firsts AS (
    (SELECT priority, due_at FROM tasks t WHERE t.status = 'Ready' AND t.pool = k.pool AND t.type = k.type
     ORDER BY priority DESC, due_at, id LIMIT 1)
    UNION ALL
    SELECT next.priority, next.due_at FROM firsts f CROSS JOIN LATERAL (
      SELECT priority, due_at FROM tasks t
      WHERE t.status = 'Ready' AND t.pool = k.pool AND t.type = k.type AND t.priority < f.priority
      ORDER BY priority DESC, due_at, id LIMIT 1) next)
  SELECT min(due_at) FROM firsts`;

/** Index: tasks_ready_of_type; the table is not read. It takes a probe for each type that waits, and so many entries of it at most. */
const WAITING = `
  WITH RECURSIVE kinds AS (
    (SELECT pool, type FROM tasks WHERE status = 'Ready' ORDER BY pool, type LIMIT 1)
    UNION ALL
    SELECT next.pool, next.type FROM kinds k CROSS JOIN LATERAL (
      SELECT pool, type FROM tasks WHERE status = 'Ready' AND (pool, type) > (k.pool, k.type) ORDER BY pool, type LIMIT 1) next)
  SELECT k.type, k.pool, least(w.count, ${MOST})::int AS count, w.count <= ${MOST} AS "isExact",
         extract(epoch FROM CASE WHEN w.count <= ${MOST} THEN w.oldest ELSE (${OLDEST}) END)::float8 * 1000 AS "oldestMs"
  FROM kinds k CROSS JOIN LATERAL (
    SELECT count(*), min(due_at) AS oldest FROM (
      SELECT due_at FROM tasks t WHERE t.status = 'Ready' AND t.pool = k.pool AND t.type = k.type
      ORDER BY priority DESC, due_at, id LIMIT ${MOST + 1}) counted) w
  WHERE w.count > 0`;

/** Index: tasks_in_flight. */
const FLIGHT = `
  SELECT type, count(*) FILTER (WHERE status = 'Sent')::int AS sent, count(*) FILTER (WHERE status = 'Running')::int AS running,
         extract(epoch FROM min(due_at) FILTER (WHERE status = 'Sent'))::float8 * 1000 AS "oldestSentMs"
  FROM tasks WHERE status IN ('Sent', 'Running') GROUP BY type`;

const WORK = `FROM task_services s WHERE s.${TASK_SERVICE_LIVES} AND NOT s.draining AND s.workers > 0`;

/** Reads a handful of services and limits. */
const ABLE = `
  SELECT t ->> 'type' AS type, s.pool, ${intSum("s.workers")} AS workers, coalesce(min((t ->> 'batch')::int), 1) AS "batchSize"
  ${WORK.replace("task_services s", "task_services s CROSS JOIN LATERAL jsonb_array_elements(s.type_facts) AS t")} GROUP BY 1, 2`;
const POOLS = `SELECT s.pool, ${intSum("s.workers")} AS workers ${WORK} GROUP BY 1 ORDER BY 1`;
const LIMITS = `
  SELECT type, paused, max_running AS "maxRunning", min_running AS "minRunning", rate_per_second AS "ratePerSecond", outside
  FROM task_types`;

/** How tasks of each type stand: what is read of `tasks` does not grow with what waits. */
export async function readTaskStandings(dataSource: DataSource): Promise<TaskStandings> {
  const [waiting, flight, able, pools, limits] = await Promise.all([
    dataSource.query(WAITING),
    dataSource.query(FLIGHT),
    dataSource.query(ABLE),
    dataSource.query(POOLS),
    dataSource.query(LIMITS),
  ]);
  return { waiting, flight, able, pools, limits };
}
