import { AWAITING_STATUSES } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import type { UnservedType } from "../../../domain/overview/facts.ts";
import { OBSERVER_COUNTS } from "../observers/observer-counts.ts";
import { LATE_STARTS } from "../observers/scheduled-start-store.ts";
import { LIVING_STATES, TAKES_WORK } from "../services/service-states.ts";
import { literals } from "../statements/sql-conditions.ts";
import { MAY_LIVE, mayBeServed } from "../tasks/views/unheard-services.ts";

const HAS = (type: string): string => `s.type_facts @> jsonb_build_array(jsonb_build_object('type', ${type}))`;

/** Indexes: services_living, observers_to_start. A pool in which no service takes work is another matter. */
const OBSERVERS = `
  SELECT 'observer' AS kind, o.pool, o.type, o.count, true AS "isExact", o.unsent,
         ARRAY(SELECT s.name FROM services s WHERE s.pool = o.pool AND s.state IN (${LIVING_STATES}) AND ${HAS("o.type")} ORDER BY 1) AS resting,
         ARRAY(SELECT DISTINCT s.pool FROM services s
               WHERE s.pool <> o.pool AND s.state IN (${LIVING_STATES}) AND ${HAS("o.type")} ORDER BY 1) AS elsewhere
  FROM (SELECT pool, type, sum(count)::int AS count, sum(unsent)::int AS unsent
        FROM (SELECT pool, type, count, 0 AS unsent FROM ${OBSERVER_COUNTS} WHERE status IN (${literals(AWAITING_STATUSES)})
              UNION ALL SELECT pool, type, count, count FROM (${LATE_STARTS}) late) waiting
        GROUP BY pool, type HAVING sum(count) > 0) o
  WHERE EXISTS (SELECT FROM services s WHERE s.pool = o.pool AND ${TAKES_WORK})
    AND NOT EXISTS (SELECT FROM services s WHERE s.pool = o.pool AND ${TAKES_WORK} AND ${HAS("o.type")})
  ORDER BY o.count DESC, o.pool, o.type LIMIT $1`;

/**
 * Index: tasks_ready_of_type; the table is not read. It takes a probe for each type that waits, and some entries of those that nobody has.
 * What is paused waits for that.
 */
const TASKS = `
  WITH RECURSIVE kinds AS (
    (SELECT pool, type FROM tasks WHERE status = 'Ready' ORDER BY pool, type LIMIT 1)
    UNION ALL
    SELECT next.pool, next.type FROM kinds k CROSS JOIN LATERAL (
      SELECT pool, type FROM tasks WHERE status = 'Ready' AND (pool, type) > (k.pool, k.type) ORDER BY pool, type LIMIT 1) next)
  SELECT 'task' AS kind, k.pool, k.type, w.count, w.count < $2 AS "isExact", 0 AS unsent,
         ARRAY(SELECT s.name FROM task_services s
               WHERE s.pool = k.pool AND s.workers > 0 AND ${HAS("k.type")} AND ${MAY_LIVE} ORDER BY 1) AS resting,
         ARRAY(SELECT DISTINCT s.pool FROM task_services s
               WHERE s.pool <> k.pool AND s.workers > 0 AND ${HAS("k.type")} AND ${MAY_LIVE} ORDER BY 1) AS elsewhere
  FROM kinds k LEFT JOIN task_types l USING (type) CROSS JOIN LATERAL (
    SELECT count(*)::int AS count FROM (
      SELECT FROM tasks t WHERE t.status = 'Ready' AND t.pool = k.pool AND t.type = k.type LIMIT $2) counted) w
  WHERE NOT coalesce(l.outside OR l.paused, false) AND NOT ${mayBeServed("k.pool", "k.type")}
  ORDER BY w.count DESC, k.pool, k.type LIMIT $1`;

/** So many types are named at most: those for which most waits. */
const MOST_NAMED = 10;
const MOST_COUNTED = 1_000;

/** What waits because no service of its pool has the type, or none that takes work. */
export async function unservedTypes(dataSource: DataSource): Promise<UnservedType[]> {
  const [observers, tasks] = await Promise.all([
    dataSource.query<UnservedType[]>(OBSERVERS, [MOST_NAMED]),
    dataSource.query<UnservedType[]>(TASKS, [MOST_NAMED, MOST_COUNTED]),
  ]);
  return [...observers, ...tasks];
}
