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

const AWAITING = `
  SELECT pool, type, sum(count)::int AS count FROM (
    SELECT pool, type, count FROM ${OBSERVER_COUNTS} WHERE status IN (${literals(AWAITING_STATUSES)})
    UNION ALL SELECT pool, type, -count FROM (${WAITING_ELSEWHERE}) elsewhere) counted
  GROUP BY pool, type`;

/** Told to move, and still where they were. Index: commands_one_move. */
const LEAVING = `
  SELECT s.pool, count(*)::int AS count FROM commands c JOIN services s ON s.id = c.service_id
  WHERE c.kind = 'move-run' GROUP BY s.pool`;

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

type PoolCount = { pool: string; count: number };

/** What nobody there could run is on the way to nobody: it waits, maybe for ever, and no balance waits for it. */
const isServedBy =
  (services: readonly ServiceRow[]) =>
  ({ pool, type }: { pool: string; type: string }): boolean =>
    services.some((service) => service.pool === pool && service.drain === "none" && service.types.includes(type));

/** How each pool stands that has a living service. @param pool only this one; null: all */
export async function readStandings(
  db: Pick<DataSource | EntityManager, "query">,
  pool: string | null = null,
): Promise<Map<string, PoolStanding>> {
  const services = await db.query<ServiceRow[]>(SERVICES, [pool]);
  const runs = await db.query<{ serviceId: string; type: string; count: number }[]>(RUNS, [services.map(({ id }) => id)]);
  const awaiting = (await db.query<(PoolCount & { type: string })[]>(AWAITING)).filter(isServedBy(services));
  const underWay = [...awaiting, ...(await db.query<PoolCount[]>(LEAVING))];
  const runsOf = new Map<string, Map<string, number>>();
  for (const { serviceId, type, count } of runs)
    runsOf.set(serviceId, (runsOf.get(serviceId) ?? new Map<string, number>()).set(type, count));
  const pools = new Map<string, PoolService[]>();
  for (const row of services) {
    const { id, name, generation, workers, state, drain, notConsuming, canMove } = row;
    const own = runsOf.get(id) ?? new Map<string, number>();
    const isOpen = state === "Alive" && drain === "none" && notConsuming === null;
    const restsFor = whyRests(row, own);
    const about = { id, name, generation, workers, isOpen, restsFor, canMove, standing: `${state} ${drain}` };
    const of = pools.get(row.pool) ?? [];
    pools.set(row.pool, of);
    of.push({ ...about, runs: own, knows: new Set(row.types) });
  }
  const waiting = new Map<string, number>();
  for (const { pool: name, count } of underWay) waiting.set(name, (waiting.get(name) ?? 0) + count);
  return new Map([...pools].map(([name, of]) => [name, { services: of, awaiting: waiting.get(name) ?? 0 }]));
}

/** One that is short of memory says that it has no worker free: it has as much as it can run, and nobody waits for it. */
function whyRests({ state, drain, workers, notConsuming }: ServiceRow, runs: ReadonlyMap<string, number>): string | null {
  if (drain !== "none") return null;
  if (state !== "Alive") return "is not heard of";
  const running = [...runs.values()].reduce((sum, count) => sum + count, 0);
  return notConsuming === null || running >= workers ? null : `takes none for now: ${notConsuming}`;
}
