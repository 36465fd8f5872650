import { ChangesReady, ChangesResync, ObserverView, Readiness, ServiceView } from "@unacked/contracts";
import { z } from "zod";
import { answer, type CallDescription } from "./call-description.ts";
import { EventQuery } from "./event-query.ts";
import { METRICS, NOT_READY, READY, STREAM } from "./examples/overview-examples.ts";
import { GATE_PROBLEMS } from "./gate-problems.ts";

/** Calls that are no Route, since they answer with something else than JSON, or go on when the rest does not. */
export const PLAIN_CALLS: CallDescription[] = [
  {
    ...{ method: "get", path: "/api/v1/events", tag: "Overview", operationId: "followChanges" },
    access: "viewer",
    summary: "All changes as server-sent events, for as long as the client stays",
    description:
      "Each event has its kind as `event` and JSON as `data`:\n\n" +
      "- `observer`, `service`: what has changed, whole, as it is now\n" +
      "- `ready`: from here on every change is told as it happens\n" +
      "- `resync`: some changes were skipped, so read the lists anew\n\n" +
      "`id` is a place that every manager understands: sent as `Last-Event-ID`, the stream goes on from there. " +
      "A comment comes every 15 s while nothing changes.",
    query: EventQuery,
    headers: z.object({ "Last-Event-ID": z.string().optional().describe("the `id` of the last event that was received") }),
    answers: {
      200: {
        ...answer("The stream", z.string(), { "Of one that has just begun": STREAM }),
        contentType: "text/event-stream",
      },
    },
    problems: ["invalid-query", "wrong-host"],
    events: { observer: ObserverView, service: ServiceView, ready: ChangesReady, resync: ChangesResync },
  },
  {
    ...{ method: "get", path: "/healthz", tag: "Health", operationId: "isAlive", summary: "The process answers" },
    access: "open",
    answers: { 200: answer("It does", z.object({ status: z.literal("ok") }), { "It does": { status: "ok" } }) },
    problems: [],
  },
  {
    ...{ method: "get", path: "/readyz", tag: "Health", operationId: "isReady" },
    access: "open",
    summary: "Database, broker and state queue are as they should be",
    answers: {
      200: answer("They are", Readiness, { "They are": READY }),
      503: answer("They are not, and why", Readiness, { "The broker is away": NOT_READY }),
    },
    problems: [],
  },
  {
    ...{ method: "get", path: "/metrics", tag: "Health", operationId: "getMetrics", summary: "Figures for Prometheus" },
    access: "open",
    description:
      "Open to everybody, unless METRICS_ACCESS makes it the viewers'. While the books cannot be read, their figures are " +
      "missing and `unacked_manager_books_readable` is 0.",
    answers: {
      200: {
        ...answer("In Prometheus' text format", z.string(), { "The beginning": METRICS }),
        contentType: "text/plain",
      },
    },
    problems: [...GATE_PROBLEMS],
  },
  {
    ...{ method: "get", path: "/api/openapi.json", tag: "Document", operationId: "getDocument" },
    access: "open",
    summary: "This document (OpenAPI 3.1); for people, it is at /api/docs",
    answers: {
      200: answer("The document", z.looseObject({ openapi: z.string() }), { "Its first line": { openapi: "3.1.0" } }),
    },
    problems: ["wrong-host"],
  },
];
