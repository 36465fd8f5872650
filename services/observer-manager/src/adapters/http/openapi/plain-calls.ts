import { type CallDescription, describeCall } from "./call-description.ts";
import { METRICS, NOT_READY, READY, STREAM } from "./examples/overview-examples.ts";

/** Calls that are not a Route, since they answer with something other than JSON, or go on when the rest does not. */
export const PLAIN_CALLS: CallDescription[] = [
  describeCall("followChanges", {
    tag: "Overview",
    summary: "All changes as server-sent events, for as long as the client stays",
    description:
      "Each event has its kind as `event` and JSON as `data`:\n\n" +
      "- `observer`, `service`: what has changed, whole, as it is now\n" +
      "- `ready`: from here on every change is told as it happens\n" +
      "- `resync`: some changes were skipped, so read the lists again\n\n" +
      "`id` is a place that every manager understands: sent as `Last-Event-ID`, the stream goes on from there, " +
      "or begins with `resync` where these books do not have it (they were restored, or a standby was promoted). " +
      "An event without `id` is news all the same; while a transaction stays open in the database, those written after it come " +
      "without, and once more when it is over. " +
      "A comment comes every 15 s while nothing changes.",
    answers: {
      200: {
        description: "The stream",
        examples: { "Of one that has just begun": STREAM },
        contentType: "text/event-stream",
      },
    },
  }),
  describeCall("isAlive", {
    tag: "Health",
    summary: "The process answers",
    answers: { 200: { description: "It does", examples: { "It does": { status: "ok" } } } },
  }),
  describeCall("isReady", {
    tag: "Health",
    summary: "Database, broker and state queue are as they should be",
    answers: {
      200: { description: "They are", examples: { "They are": READY } },
      503: { description: "They are not, and why", examples: { "The broker is away": NOT_READY } },
    },
  }),
  describeCall("getMetrics", {
    tag: "Health",
    summary: "Figures for Prometheus",
    description:
      "Open to everybody, unless METRICS_ACCESS makes it the viewers'. What of the books cannot be read is " +
      "missing: `unacked_manager_books_readable` is 0, and `unacked_manager_books_part_readable` says what.",
    answers: {
      200: {
        description: "In Prometheus' text format",
        examples: { "The beginning": METRICS },
        contentType: "text/plain",
      },
    },
  }),
  describeCall("getDocument", {
    tag: "Document",
    summary: "This document (OpenAPI 3.1); for people, it is at /api/docs",
    answers: { 200: { description: "The document", examples: { "Its first line": { openapi: "3.1.0" } } } },
  }),
];
