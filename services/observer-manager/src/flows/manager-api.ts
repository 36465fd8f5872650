import type {
  AuditedDeed,
  AuditPage,
  CreateObserver,
  ErrorEntry,
  ErrorGroupList,
  ErrorPage,
  FieldProblem,
  LogEvent,
  ObserverErrors,
  ObserverId,
  ObserverLogs,
  ObserverPage,
  ObserverStatus,
  ObserverView,
  ProblemCode,
  Readiness,
  Role,
  RunId,
  RunList,
  ServiceId,
  ServiceList,
  ServiceView,
  Stats,
  TypeList,
} from "@unacked/contracts";
import type { Actor } from "../domain/actor.ts";
import type { ChangeHub } from "./change-hub.ts";

/** What the REST side needs from the rest of the manager. Failures of the database are thrown, everything else is answered. */
export interface ManagerApi {
  readonly lifecycle: Lifecycle;
  readonly errors: ErrorTools;
  readonly services: ServiceTools;
  readonly logs: LogTools;
  readonly reads: ManagerReads;
  readonly changes: Pick<ChangeHub, "subscribe">;
  /** Never rejects: a check that cannot be made is a check that failed. */
  readiness(): Promise<Readiness>;
}

/**
 * The writing flows. Each answer is given after the commit, with the observer as that transaction left it; and with it, in the
 * same transaction, stands who did it in the audit trail.
 */
export interface Lifecycle {
  /**
   * `exists`: an observer with this client-chosen id and the very same body is there already.
   * Problems: name-taken, id-taken, unknown-type (+ knownTypes), invalid-body (+ errors), no-free-worker, not-ready.
   */
  createObserver(request: CreateObserver, by: Actor): Promise<CreateOutcome>;

  /**
   * The same for many, answered one by one in order: a bad one does not cost the others, unless `atomic`. Then either all are
   * created, or those that are to blame carry their problem and the others batch-refused. One that was refused before it
   * came here (by its shape) keeps its place and its problem.
   */
  createObservers(
    requests: (CreateObserver | Refusal)[],
    options: { atomic: boolean },
    by: Actor,
  ): Promise<CreateOutcome[] | Refusal>;

  /** Problems: observer-not-found, not-activated, already-deleting, already-deleted, not-ready. */
  deleteObserver(ref: ObserverRef, options: { force: boolean }, by: Actor): Promise<ChangeOutcome>;

  /** Problems: observer-not-found, not-restartable, already-deleting, already-deleted, not-ready. */
  restartObserver(ref: ObserverRef, by: Actor): Promise<ChangeOutcome>;

  /**
   * The same for many, answered in the order of the refs. What was accepted stays so: when the database goes away in the
   * middle, the rest is answered batch-interrupted.
   */
  changeObservers(refs: ObserverRef[], change: BulkChange, by: Actor): Promise<ChangeOutcome[] | Refusal>;

  /** Of all that match now; one that no longer does when its turn comes is left alone. */
  changeMatching(filter: ObserverFilter, change: BulkChange, by: Actor): Promise<BulkCount | Refusal>;
}

export type CreateOutcome = { kind: "created" | "exists"; observer: ObserverView } | Refusal;

export interface ErrorTools {
  /** Problems: error-not-found, not-retryable, and those of a restart. */
  retryError(id: string, by: Actor): Promise<ChangeOutcome>;

  /** Problems: error-not-found. */
  deleteError(id: string, by: Actor): Promise<{ kind: "deleted" } | Refusal>;
}

export interface ServiceTools {
  /** Safe to repeat. Problems: service-not-found, service-ended, service-ambiguous, not-ready. */
  drainService(ref: ServiceRef, by: Actor): Promise<{ kind: "accepted"; service: ServiceView } | Refusal>;
}

export interface LogTools {
  /** The newest `limit` of what is kept. Problems: observer-not-found, logs-unavailable. */
  readLogs(ref: ObserverRef, query: { limit: number }): Promise<{ kind: "logs"; logs: ObserverLogs } | Refusal>;

  /** The same and what comes after, or all that came after a place. Problems: observer-not-found. */
  followLogs(ref: ObserverRef, from: { limit: number; after?: LogPosition | undefined }): Promise<LogStream | Refusal>;
}

export interface LogStream {
  kind: "stream";
  /** Until the signal aborts or the observer is over. An event with a place is one to go on from. */
  events(signal: AbortSignal): AsyncIterable<LogEvent & { after?: LogPosition }>;
}

/** Up to where a client has seen what a run said. */
export interface LogPosition {
  runId: RunId;
  seq: number;
}

/** What is asked of many. */
export interface BulkChange {
  kind: "stop" | "restart";
  /** Of a stop: also what has not started, or what nobody answers for. */
  force: boolean;
  /** Answers as if, and changes nothing. */
  dryRun: boolean;
}

export interface BulkCount {
  matched: number;
  accepted: number;
  refused: Partial<Record<ProblemCode, number>>;
}

export type ChangeOutcome = { kind: "accepted"; observer: ObserverView } | Refusal;

/** What a path takes: a name finds the living observer of that name, an id also a deleted one. */
export type ObserverRef = { kind: "id"; id: ObserverId } | { kind: "name"; name: string };

/** What a path takes: a name finds the living service of that name. */
export type ServiceRef = { kind: "id"; id: ServiceId } | { kind: "name"; name: string };

/** A request that was understood and is not done. Title, status and remedy come from the catalogue (PROBLEMS). */
export interface Refusal {
  kind: "problem";
  code: ProblemCode;
  /** One sentence about this very case; the catalogue's title when absent. */
  detail?: string;
  errors?: FieldProblem[];
  knownTypes?: string[];
  /** Of `forbidden`: what would be enough. */
  neededRole?: Role;
  /** Sent as Retry-After, in s. Problems of status 503 have a default. */
  retryAfterS?: number;
}

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

/** Filters are combined by "and"; the values of one list by "or" (but all labels must match). */
export interface ObserverFilter {
  statuses?: ObserverStatus[];
  type?: string;
  /** The service it runs on now. */
  service?: { kind: "id"; id: string } | { kind: "name"; name: string };
  pool?: string;
  labels?: { key: string; value: string }[];
  /** A part of the name, in any case; taken literally. */
  nameContains?: string;
  /** Of the last error (errorGroupOf). */
  errorGroup?: string;
}

export interface ErrorQuery {
  reason?: string;
  group?: string;
  /** By name: of every observer that has or had it. */
  observer?: ObserverRef;
  limit: number;
  after?: ErrorPosition;
}

export interface AuditQuery {
  /** Their name. */
  actor?: string;
  deed?: AuditedDeed;
  /** Among the targets that are named. */
  observer?: ObserverRef;
  requestId?: string;
  /** ISO 8601: from then on, and before then. */
  since?: string;
  until?: string;
  limit: number;
  after?: AuditPosition;
}

export interface AuditPosition {
  atMicros: string;
  id: string;
}

export interface ObserverQuery extends ObserverFilter {
  sort: ObserverSort;
  limit: number;
  after?: ObserverPosition;
}

export type ObserverSort = "newest" | "attempts";

/** A place in a list: the last row of a page, exactly (microseconds, as PostgreSQL keeps them). */
export type ObserverPosition =
  | { sort: "newest"; createdAtMicros: string; id: string }
  | { sort: "attempts"; attempts: number; createdAtMicros: string; id: string };

export interface ErrorPosition {
  id: string;
}
