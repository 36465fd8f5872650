import type {
  AuditPage,
  CheckpointView,
  ErrorEntry,
  ErrorGroupList,
  ErrorPage,
  ObserverColumns,
  ObserverErrors,
  ObserverId,
  ObserverPage,
  ObserverView,
  RunFigures,
  RunList,
  ServiceList,
  Stats,
  TimelinePage,
  TypeList,
} from "@unacked/contracts";
import type { AuditQuery } from "./access/audit.ts";
import type { ErrorQuery } from "./errors/error-desk.ts";
import type { ObserverQuery, ObserverRef } from "./observers/observer-tools.ts";

import type { RunFigureQuery } from "./observers/run-figure-query.ts";
import type { TimelineQuery } from "./observers/timeline.ts";

export interface ManagerReads {
  listObservers(query: ObserverQuery): Promise<ObserverPage>;
  /** The same page's columns that lists show, by field. */
  listObserverColumns(query: ObserverQuery): Promise<ObserverColumns>;
  findObserver(ref: ObserverRef): Promise<ObserverView | undefined>;
  /** Newest first; undefined when there is no such observer. */
  listRuns(ref: ObserverRef): Promise<RunList | undefined>;
  /** Newest first; undefined when there is no such observer. */
  timeline(ref: ObserverRef, query: TimelineQuery): Promise<TimelinePage | undefined>;
  /** The checkpoint that counts. */
  readCheckpoint(id: ObserverId): Promise<CheckpointView>;
  listServices(query: { all: boolean }): Promise<ServiceList>;
  stats(): Promise<Stats>;
  runFigures(query: RunFigureQuery): Promise<RunFigures>;
  /** The types of services that live. */
  listTypes(): Promise<TypeList>;
  listErrors(query: ErrorQuery): Promise<ErrorPage>;
  findError(id: string): Promise<ErrorEntry | undefined>;
  groupErrors(): Promise<ErrorGroupList>;
  /** The last errors of observers that are not Deleted. */
  groupObserverErrors(): Promise<ObserverErrors>;
  /** Newest first. */
  listAudit(query: AuditQuery): Promise<AuditPage>;
}
