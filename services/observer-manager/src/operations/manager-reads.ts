import type {
  AuditPage,
  ErrorEntry,
  ErrorGroupList,
  ErrorPage,
  ObserverErrors,
  ObserverPage,
  ObserverView,
  RunList,
  ServiceList,
  Stats,
  TypeList,
} from "@unacked/contracts";
import type { AuditQuery } from "./access/audit.ts";
import type { ErrorQuery } from "./errors/error-desk.ts";
import type { ObserverQuery, ObserverRef } from "./observers/observer-tools.ts";

export interface ManagerReads {
  listObservers(query: ObserverQuery): Promise<ObserverPage>;
  findObserver(ref: ObserverRef): Promise<ObserverView | undefined>;
  /** Newest first; undefined when there is no such observer. */
  listRuns(ref: ObserverRef): Promise<RunList | undefined>;
  listServices(query: { all: boolean }): Promise<ServiceList>;
  stats(): Promise<Stats>;
  /** Of services that live. */
  listTypes(): Promise<TypeList>;
  listErrors(query: ErrorQuery): Promise<ErrorPage>;
  findError(id: string): Promise<ErrorEntry | undefined>;
  groupErrors(): Promise<ErrorGroupList>;
  /** Last errors of observers that are not Deleted. */
  groupObserverErrors(): Promise<ObserverErrors>;
  /** Newest first. */
  listAudit(query: AuditQuery): Promise<AuditPage>;
}
