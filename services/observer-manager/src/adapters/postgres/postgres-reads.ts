import type { DataSource } from "typeorm";
import type { ManagerReads } from "../../operations/manager-reads.ts";
import type { AskQueues } from "../../operations/pools/pool-queues.ts";
import { SharedReading } from "../../operations/shared-reading.ts";
import { listAudit } from "./access/audit-rows.ts";
import { findError, groupErrors, groupObserverErrors, listErrors } from "./errors/error-rows.ts";
import { readCheckpoint } from "./observers/checkpoint-rows.ts";
import { findObserver, listObserverColumns, listObservers } from "./observers/observer-reads.ts";
import { readRunFigures } from "./observers/run-figures.ts";
import { listRuns } from "./observers/run-reads.ts";
import { readTimeline } from "./observers/timeline-reads.ts";
import { readStats } from "./overview/stats-reads.ts";
import { UnevenPools } from "./overview/uneven-pools.ts";
import { listServices } from "./services/service-reads.ts";
import { listTypes } from "./types/type-reads.ts";

/** Each page that somebody can see asks for the stats every 2 s, and each reading asks the broker for every pool's queue. */
const STATS_EVERY_MS = 250;

/** All reads that HTTP needs, from the books (and the queue depths from the broker). */
export function postgresReads(dataSource: DataSource, askQueues: AskQueues): ManagerReads {
  const uneven = new UnevenPools(dataSource);
  const stats = new SharedReading(() => readStats(dataSource, askQueues, uneven), STATS_EVERY_MS);
  return {
    listObservers: (query) => listObservers(dataSource, query),
    listObserverColumns: (query) => listObserverColumns(dataSource, query),
    findObserver: (ref) => findObserver(dataSource, ref),
    listRuns: (ref) => listRuns(dataSource, ref),
    timeline: (ref, query) => readTimeline(dataSource, ref, query),
    readCheckpoint: (id) => readCheckpoint(dataSource, id),
    listServices: (query) => listServices(dataSource, query),
    runFigures: (query) => readRunFigures(dataSource, query),
    stats: () => stats.get(),
    listTypes: () => listTypes(dataSource),
    listErrors: (query) => listErrors(dataSource, query),
    findError: (id) => findError(dataSource, id),
    groupErrors: () => groupErrors(dataSource),
    groupObserverErrors: () => groupObserverErrors(dataSource),
    listAudit: (query) => listAudit(dataSource, query),
  };
}
