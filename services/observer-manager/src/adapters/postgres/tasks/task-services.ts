import { MAY_HOLD_MS } from "../../../domain/tasks/proof-times.ts";
import { intSum } from "../statements/int-sum.ts";

/**
 * Whether it was heard of within so long, and no more than a minute after now: else one that died before the clock was set back
 * would live until it is there again.
 */
const heardWithin = (ago: string): string => `seen_at BETWEEN now() - interval '${ago}' AND now() + interval '1 minute'`;

/** A service that was heard of before that is taken for dead, or frozen: nothing is sent for it. */
export const LIVES_FOR = "20 seconds";
export const TASK_SERVICE_LIVES = heardWithin(LIVES_FOR);
export const MAY_HOLD = heardWithin(`${MAY_HOLD_MS} ms`);

/** Whether a service that may be given tasks has the type. Few rows. @param pool, type as SQL, and of a service `s` whether it lives */
export const isServed = (pool: string, type: string, lives = `s.${TASK_SERVICE_LIVES}`): string => `EXISTS (
  SELECT FROM task_services s
  WHERE s.pool = ${pool} AND s.workers > 0 AND NOT s.draining AND ${lives}
    AND s.type_facts @> jsonb_build_array(jsonb_build_object('type', ${type})))`;

/**
 * Services that take tasks. Those of a pool that have the same types are one row `k`, and `s` is one of them: its types are looked at once.
 */
export const TAKING = `(
  SELECT pool, types_hash, ${intSum("workers")} AS workers, (array_agg(id))[1] AS id FROM task_services
  WHERE ${TASK_SERVICE_LIVES} AND NOT draining AND workers > 0 GROUP BY pool, types_hash) k JOIN task_services s USING (id)`;

/** What services announce of the types of a pool; with batches if all that have the type do. A handful of rows. */
export const ANNOUNCED = `
  SELECT s.pool, t->>'type' AS type, max((s.means ->> (t->>'type'))::float8) AS "meanMs",
    CASE WHEN bool_and(t ? 'batch') THEN min((t->>'batch')::int) END AS "batchSize"
  FROM task_services s, jsonb_array_elements(s.type_facts) t WHERE ${TASK_SERVICE_LIVES} GROUP BY 1, 2`;
