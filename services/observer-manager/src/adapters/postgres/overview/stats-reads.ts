import {
  AWAITING_STATUSES,
  noneOfEachStatus,
  type ObserverStatus,
  type PoolStats,
  type QueueDepth,
  STATE_QUEUE,
  type Stats,
  workQueueName,
} from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { unevenPools } from "../../../domain/balance/uneven.ts";
import { MARKER_LIVES_MS } from "../../../domain/observers/absence-proof.ts";
import { UNKNOWN_TYPE } from "../../../domain/observers/observer-input.ts";
import type { LateStarts, WaitingElsewhere } from "../../../domain/overview/facts.ts";
import { warningsOf } from "../../../domain/overview/warnings.ts";
import type { AskQueues } from "../../../operations/pools/pool-queues.ts";
import { KEEPING, OBSERVER_COUNTS, OCCUPIED_BY_POOL, WAITING_ELSEWHERE } from "../observers/observer-counts.ts";
import { restartedObservers } from "../observers/restarts.ts";
import { LATE_STARTS, LATE_TO_START } from "../observers/scheduled-start-store.ts";
import { silentObservers } from "../observers/silent-observers.ts";
import { listServices } from "../services/service-reads.ts";
import { LIVING_STATES } from "../services/service-states.ts";
import { intSum } from "../statements/int-sum.ts";
import { literals } from "../statements/sql-conditions.ts";
import { unheardTimers } from "../timers/timer-counts.ts";
import { booksBlockers } from "./books-blockers.ts";
import { goneServices } from "./gone-services.ts";
import { longSnapshots } from "./long-snapshots.ts";
import type { UnevenPools } from "./uneven-pools.ts";
import { unservedTypes } from "./unserved-types.ts";

const COUNTS = `
  SELECT type, status, sum(count)::int AS count FROM ${OBSERVER_COUNTS} GROUP BY type, status HAVING sum(count) <> 0`;

/**
 * Indexes: services_living, observers_on_service. A pool is known by its living services or by its observers. A cordoned service counts
 * with as many workers as are busy there, even with an observer that is leaving the pool: only the index is read for them.
 */
const POOLS = `
  WITH living AS MATERIALIZED (
    SELECT pool, drain, CASE
             WHEN drain = 'none' THEN worker_count
             WHEN drain IN (${KEEPING}) THEN (SELECT count(*)::int FROM observers o WHERE o.current_service_id = services.id)
             ELSE 0 END AS counting
    FROM services WHERE state IN (${LIVING_STATES})
  )
  SELECT pool, coalesce(services, 0) AS services, coalesce(draining, 0) AS draining, coalesce(workers, 0) AS workers,
         coalesce(largest, 0) AS largest, coalesce(occupied, 0) AS occupied
  FROM (SELECT pool, count(*)::int AS services, count(*) FILTER (WHERE drain <> 'none')::int AS draining,
               ${intSum("counting")} AS workers, max(counting) AS largest
        FROM living GROUP BY pool) s
  FULL JOIN (${OCCUPIED_BY_POOL}) o USING (pool)
  ORDER BY pool`;

/**
 * Indexes: observers_by_status, observers_to_start, and runs_of_observer for those that a service has sent back. These are sent again, and
 * so written, again and again: they have waited since their error was told first, or since a later run (an older manager leaves the error
 * there).
 */
const OLDEST_WAITING = `
  SELECT id, name, status, since, (extract(epoch FROM now() - since) * 1000)::bigint AS waiting_ms
  FROM (SELECT id, name, status,
               CASE WHEN last_error ->> 'name' = '${UNKNOWN_TYPE}'
                    THEN least(modified_at, greatest(last_error_at,
                           (SELECT max(r.ended_at) FROM runs r WHERE r.observer_id = o.id)))
                    ELSE modified_at END AS since
        FROM observers o WHERE status IN (${literals(AWAITING_STATUSES)})
        UNION ALL SELECT id, name, status, start_at FROM observers WHERE ${LATE_TO_START}) waiting
  ORDER BY since, id LIMIT 1`;

/** A handful of rows: each pool has a marker in its work queue, unless somebody took it out who does not tell. */
const MARKED_POOLS = `
  SELECT pool FROM absence_proofs
  WHERE queue_seen_at IS NULL AND begun_at > now() - ${MARKER_LIVES_MS} * interval '1 millisecond'`;

interface PoolRow {
  pool: string;
  services: number;
  draining: number;
  workers: number;
  largest: number;
  occupied: number;
}

export async function readStats(dataSource: DataSource, askQueues: AskQueues, uneven: UnevenPools): Promise<Stats> {
  const [counts, pools, waiting, silents] = await Promise.all([
    dataSource.query<{ type: string; status: ObserverStatus; count: number }[]>(COUNTS),
    dataSource.query<PoolRow[]>(POOLS),
    dataSource.query<{ id: string; name: string; status: ObserverStatus; since: Date; waiting_ms: string }[]>(
      OLDEST_WAITING,
    ),
    silentObservers(dataSource),
  ]);
  const silent = new Map(silents.map(({ pool, count }) => [pool, count]));
  const byPool = pools.map((row) => toPoolStats(row, silent.get(row.pool) ?? 0));
  const { items: services } = await listServices(dataSource, { all: false });
  const now = await askQueues(byPool.map(({ pool }) => pool));
  const queues = now && withoutMarkers(now.depths, await dataSource.query<{ pool: string }[]>(MARKED_POOLS));
  const { troubles: queueTroubles = [], unwanted: unwantedQueues = [], isBlocked: brokerBlocks = false } = now ?? {};
  const queueBroker = now?.broker ?? null;
  const stateQueueLag = queues?.find(({ queue }) => queue === STATE_QUEUE)?.ready ?? null;
  const [oldest] = waiting;
  const unserved = await unservedTypes(dataSource);
  const elsewhere = await dataSource.query<WaitingElsewhere[]>(WAITING_ELSEWHERE);
  return {
    observers: countsOf(counts),
    workers: { total: sum(byPool.map((pool) => pool.workers)), free: sum(byPool.map((pool) => pool.free)), byPool },
    survivesLargestService: byPool.every((pool) => pool.survivesLargestService),
    queues,
    stateQueueLag,
    warnings: warningsOf({
      pools: byPool,
      services,
      stateQueueLag,
      brokerBlocks,
      queueTroubles,
      unwantedQueues,
      queueBroker,
      booksBlockers: await booksBlockers(dataSource),
      longSnapshots: await longSnapshots(dataSource),
      lateStarts: await dataSource.query<LateStarts[]>(LATE_STARTS),
      goneServices: await goneServices(dataSource),
      unservedTypes: unserved,
      unheardTimers: await unheardTimers(dataSource),
      silentObservers: silents,
      restartedObservers: await restartedObservers(dataSource),
      unevenPools: await uneven.withMoves(unevenPools(byPool, services, unserved, elsewhere), services),
    }),
    oldestWaiting: oldest
      ? {
          id: oldest.id,
          name: oldest.name,
          status: oldest.status,
          since: oldest.since.toISOString(),
          waitingMs: Number(oldest.waiting_ms),
        }
      : null,
  };
}

/** The manager's own markers do not wait for a worker. */
function withoutMarkers(depths: QueueDepth[], marked: { pool: string }[]): QueueDepth[] {
  const queues = new Set(marked.map(({ pool }) => workQueueName(pool)));
  return depths.map((depth) => (queues.has(depth.queue) ? { ...depth, ready: Math.max(0, depth.ready - 1) } : depth));
}

/** Whichever service dies, its observers need workers elsewhere: the worst loss is that of the most workers. */
function toPoolStats({ largest, ...pool }: PoolRow, silent: number): PoolStats {
  const { workers, occupied } = pool;
  return {
    ...pool,
    desired: occupied + largest,
    free: Math.max(0, workers - occupied),
    silent,
    survivesLargestService: occupied <= workers - largest,
  };
}

function countsOf(rows: { type: string; status: ObserverStatus; count: number }[]): Stats["observers"] {
  const types = new Map<string, Record<ObserverStatus, number>>();
  const byStatus = noneOfEachStatus();
  for (const { type, status, count } of rows) {
    const ofType = types.get(type) ?? noneOfEachStatus();
    ofType[status] += count;
    byStatus[status] += count;
    types.set(type, ofType);
  }
  const byType = [...types].map(([type, ofType]) => ({ type, total: sum(Object.values(ofType)), byStatus: ofType }));
  byType.sort((a, b) => b.total - a.total || (a.type < b.type ? -1 : 1));
  return { total: sum(Object.values(byStatus)), byStatus, byType };
}

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);
