import {
  AuditPage,
  BatchResults,
  BulkCount,
  BulkResults,
  CreateObserver,
  CreateObservers,
  ErrorEntry,
  ErrorGroupList,
  ErrorPage,
  ObserverErrors,
  ObserverLogs,
  ObserverPage,
  ObserverView,
  RestartRequest,
  RunList,
  ServiceList,
  ServiceView,
  SessionView,
  Stats,
  StopRequest,
  TypeList,
} from "@unacked/contracts";
import { z } from "zod";

export interface Call {
  method: "GET" | "POST" | "DELETE";
  /** As in OpenAPI, `{ref}`, `{errorId}` or `{service}` to be filled in. */
  path: string;
  /** The query parameters that this program sends. */
  query?: readonly string[];
  body?: z.ZodType;
  /** Undefined: 204, nothing is answered. */
  answer: z.ZodType;
}

/** Of ids and names one by one, of a filter a count. */
const BulkAnswer = z.union([BulkResults, BulkCount]);

const OBSERVERS = "/api/v1/observers";
const ERRORS = "/api/v1/errors";

/**
 * Every call that this program makes, under its operationId, with the contracts' own schemas. A test holds it against the
 * OpenAPI document: method, path, parameters and the schemas of body and answer.
 */
export const CALLS = {
  getSession: { method: "GET", path: "/api/v1/session", answer: SessionView },
  createObserver: { method: "POST", path: OBSERVERS, body: CreateObserver, answer: ObserverView },
  createObservers: { method: "POST", path: `${OBSERVERS}/batch`, body: CreateObservers, answer: BatchResults },
  listObservers: {
    method: "GET",
    path: OBSERVERS,
    query: ["status", "type", "service", "pool", "label", "q", "errorGroup", "sort", "limit", "cursor"],
    answer: ObserverPage,
  },
  getObserver: { method: "GET", path: `${OBSERVERS}/{ref}`, answer: ObserverView },
  getLogs: { method: "GET", path: `${OBSERVERS}/{ref}/logs`, query: ["follow", "limit"], answer: ObserverLogs },
  listRuns: { method: "GET", path: `${OBSERVERS}/{ref}/runs`, answer: RunList },
  stopObservers: { method: "POST", path: `${OBSERVERS}/stop`, body: StopRequest, answer: BulkAnswer },
  restartObservers: { method: "POST", path: `${OBSERVERS}/restart`, body: RestartRequest, answer: BulkAnswer },
  listServices: { method: "GET", path: "/api/v1/services", query: ["all"], answer: ServiceList },
  drainService: { method: "POST", path: "/api/v1/services/{service}/drain", answer: ServiceView },
  getStats: { method: "GET", path: "/api/v1/stats", answer: Stats },
  getErrorStats: { method: "GET", path: "/api/v1/stats/errors", answer: ObserverErrors },
  listTypes: { method: "GET", path: "/api/v1/types", answer: TypeList },
  listErrors: {
    method: "GET",
    path: ERRORS,
    query: ["reason", "group", "observer", "limit", "cursor"],
    answer: ErrorPage,
  },
  groupErrors: { method: "GET", path: `${ERRORS}/groups`, answer: ErrorGroupList },
  listAudit: {
    method: "GET",
    path: "/api/v1/audit",
    query: ["actor", "deed", "observer", "requestId", "since", "until", "limit", "cursor"],
    answer: AuditPage,
  },
  getError: { method: "GET", path: `${ERRORS}/{errorId}`, answer: ErrorEntry },
  retryError: { method: "POST", path: `${ERRORS}/{errorId}/retry`, answer: ObserverView },
  deleteError: { method: "DELETE", path: `${ERRORS}/{errorId}`, answer: z.undefined() },
} as const satisfies Record<string, Call>;

export type CallName = keyof typeof CALLS;
export type AnswerOf<Name extends CallName> = z.output<(typeof CALLS)[Name]["answer"]>;
