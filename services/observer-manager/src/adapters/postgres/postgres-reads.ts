import type { DataSource } from "typeorm";
import type { ManagerReads } from "../../flows/manager-api.ts";
import { listErrors } from "./error-reads.ts";
import { findObserver, listObservers, listRuns } from "./observer-reads.ts";
import { listServices } from "./service-reads.ts";
import { type AskQueueDepths, readStats } from "./stats-reads.ts";

/** All reads that HTTP needs, from the books (and the queue depths from the broker). */
export function postgresReads(dataSource: DataSource, askQueueDepths: AskQueueDepths): ManagerReads {
  return {
    listObservers: (query) => listObservers(dataSource, query),
    findObserver: (ref) => findObserver(dataSource, ref),
    listRuns: (ref) => listRuns(dataSource, ref),
    listServices: (query) => listServices(dataSource, query),
    stats: () => readStats(dataSource, askQueueDepths),
    listErrors: (query) => listErrors(dataSource, query),
  };
}
