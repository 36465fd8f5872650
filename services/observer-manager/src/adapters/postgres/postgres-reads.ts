import type { DataSource } from "typeorm";
import type { ManagerReads } from "../../flows/manager-api.ts";
import { listAudit } from "./audit-reads.ts";
import { findError, groupErrors, groupObserverErrors, listErrors } from "./error-reads.ts";
import { findObserver, listObservers, listRuns } from "./observer-reads.ts";
import { listServices } from "./service-reads.ts";
import { type AskQueueDepths, readStats } from "./stats-reads.ts";
import { listTypes } from "./type-reads.ts";

/** All reads that HTTP needs, from the books (and the queue depths from the broker). */
export function postgresReads(dataSource: DataSource, askQueueDepths: AskQueueDepths): ManagerReads {
  return {
    listObservers: (query) => listObservers(dataSource, query),
    findObserver: (ref) => findObserver(dataSource, ref),
    listRuns: (ref) => listRuns(dataSource, ref),
    listServices: (query) => listServices(dataSource, query),
    stats: () => readStats(dataSource, askQueueDepths),
    listTypes: () => listTypes(dataSource),
    listErrors: (query) => listErrors(dataSource, query),
    findError: (id) => findError(dataSource, id),
    groupErrors: () => groupErrors(dataSource),
    groupObserverErrors: () => groupObserverErrors(dataSource),
    listAudit: (query) => listAudit(dataSource, query),
  };
}
