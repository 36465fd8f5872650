import { AWAITING_STATUSES } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import type { PoolService, PoolStanding } from "../../../operations/balance/balance-store.ts";
import { OBSERVER_COUNTS, WAITING_ELSEWHERE } from "../observers/observer-counts.ts";
import { LIVING_STATES } from "../services/service-states.ts";
import { literals } from "../statements/sql-conditions.ts";

/** Index: services_living. */
const SERVICES = `
  SELECT id, name, pool, generation, worker_count AS workers, state, drain, not_consuming AS "notConsuming",
         features ? 'balance' AS "canMove",
         (SELECT coalesce(array_agg(t ->> 'type'), '{}') FROM jsonb_array_elements(type_facts) t) AS types
  FROM services WHERE state IN (${LIVING_STATES}) AND ($1::text IS NULL OR pool = $1) ORDER BY name, id`;

/** Index: observers_on_service. */
const RUNS = `
  SELECT current_service_id AS "serviceId", type, count(*)::int AS count FROM observers
  WHERE current_service_id = ANY($1) GROUP BY current_service_id, type`;

/**
 * Looks for those that wait elsewhere only if somebody waits at all: it reads those of all pools, as no index of them begins
 * with the pool.
 */
const AWAITING = `
  WITH counted AS MATERIALIZED (
    SELECT pool, type, sum(count) AS count FROM ${OBSERVER_COUNTS}
    WHERE status IN (${literals(AWAITING_STATUSES)}) AND ($1::text IS NULL OR pool = $1)
    GROUP BY pool, type HAVING sum(count) > 0
  ), elsewhere AS (
    SELECT pool, type, count FROM (${WAITING_ELSEWHERE}) e
    WHERE ($1::text IS NULL OR pool = $1) AND EXISTS (SELECT FROM counted)
  )
  SELECT pool, type, (c.count - coalesce(e.count, 0))::int AS count FROM counted c LEFT JOIN elsewhere e USING (pool, type)`;

/** Observers that were told to move and are still where they were. Indexes: commands_one_move, observers_pkey. */
const LEAVING = `
  SELECT s.pool, o.type, count(*)::int AS count
  FROM commands c JOIN services s ON s.id = c.service_id JOIN observers o ON o.id = c.observer_id
  WHERE c.kind = 'move-run' AND c.observer_id IS DISTINCT FROM $1::uuid GROUP BY s.pool, o.type`;

interface ServiceRow {
  id: string;
  name: string;
  pool: string;
  generation: number;
  workers: number;
  state: string;
  drain: string;
  notConsuming: string | null;
  canMove: boolean;
  types: string[];
}

type PoolCount = { pool: string; type: string; count: number };

/**
 * Whether a service of the pool could run it now. What none could run may wait for ever, and no balance waits for it; moves may make room
 * for it.
 */
const isServedIn =
  (pools: ReadonlyMap<string, { services: readonly PoolService[] }>) =>
  ({ pool, type }: { pool: string; type: string }): boolean =>
    pools.get(pool)?.services.some((one) => one.isOpen && one.knows.has(type) && runningOn(one) < one.workers) === true;

/**
 * How each pool with a living service stands. Observers on the way are read in the order of their way (leaving, awaited, running): a change
 * in between may count one twice, but misses none.
 * @param pool only this one; null: all
 * @param but an observer that is not counted among those that are to move
 */
export async function readStandings(
  db: Pick<DataSource | EntityManager, "query">,
  pool: string | null = null,
  { but = null }: { but?: string | null } = {},
): Promise<Map<string, PoolStanding>> {
  const services = await db.query<ServiceRow[]>(SERVICES, [pool]);
  const leaving = await db.query<PoolCount[]>(LEAVING, [but]);
  const awaited = await db.query<PoolCount[]>(AWAITING, [pool]);
  const runs = await db.query<{ serviceId: string; type: string; count: number }[]>(RUNS, [services.map(({ id }) => id)]);
  const runsOf = new Map<string, Map<string, number>>();
  for (const { serviceId, type, count } of runs)
    runsOf.set(serviceId, (runsOf.get(serviceId) ?? new Map<string, number>()).set(type, count));
  const pools = new Map<string, { services: PoolService[]; awaiting: Map<string, number> }>();
  for (const row of services) {
    const of = pools.get(row.pool) ?? { services: [], awaiting: new Map<string, number>() };
    pools.set(row.pool, of);
    of.services.push(toPoolService(row, runsOf.get(row.id) ?? new Map<string, number>()));
  }
  for (const { pool: name, type, count } of [...leaving, ...awaited.filter(isServedIn(pools))]) {
    const awaiting = pools.get(name)?.awaiting;
    if (count > 0) awaiting?.set(type, (awaiting.get(type) ?? 0) + count);
  }
  return pools;
}

const runningOn = ({ runs }: Pick<PoolService, "runs">): number => [...runs.values()].reduce((sum, count) => sum + count, 0);

function toPoolService(row: ServiceRow, runs: ReadonlyMap<string, number>): PoolService {
  const { id, name, generation, workers, state, drain, notConsuming, canMove, types } = row;
  const isOpen = state === "Alive" && drain === "none" && notConsuming === null;
  const about = { id, name, generation, workers, isOpen, restsFor: whyRests(row, runs), canMove };
  return { ...about, standing: `${state} ${drain}`, runs, knows: new Set(types) };
}

/** A service that is short of memory says that it has no worker free: it runs as much as it can, and nobody waits for it. */
function whyRests({ state, drain, workers, notConsuming }: ServiceRow, runs: ReadonlyMap<string, number>): string | null {
  if (drain !== "none") return null;
  if (state !== "Alive") return "is not heard of";
  const running = runningOn({ runs });
  return notConsuming === null || running >= workers ? null : `takes none for now: ${notConsuming}`;
}
