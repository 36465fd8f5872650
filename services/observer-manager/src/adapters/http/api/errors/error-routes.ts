import { decodeErrorCursor } from "../../../../operations/cursor.ts";
import type { ErrorPosition, ErrorTools } from "../../../../operations/errors/error-desk.ts";
import type { ManagerReads } from "../../../../operations/manager-reads.ts";
import { ERROR_ENTRY, ERROR_GROUPS, ERROR_PAGE, OBSERVER_ERRORS } from "../../openapi/examples/error-examples.ts";
import { SENT_AGAIN } from "../../openapi/examples/observer-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { observerParameter } from "../request-input.ts";
import { defineRoute, type Route } from "../route.ts";

/** Calls about the entries of unacked.error, and about the errors of observers. */
export function errorRoutes(reads: ManagerReads, tools: ErrorTools): Route[] {
  return [list(reads), groups(reads), show(reads), retry(tools), remove(tools), ofObservers(reads)];
}

const list = (reads: ManagerReads) =>
  defineRoute("listErrors")({
    tag: "Errors",
    summary: "What landed in unacked.error, newest first",
    answers: { 200: { description: "One page", examples: { "The last page": ERROR_PAGE } } },
    async handle({ query: { cursor, observer, ...query } }) {
      const filter = { ...query, observer: observerParameter(observer) };
      return { status: 200, body: await reads.listErrors({ ...filter, after: placeOf(cursor) }) };
    },
  });

function placeOf(cursor: string | undefined): ErrorPosition | undefined {
  const place = cursor === undefined ? undefined : decodeErrorCursor(cursor);
  if (cursor === undefined || place !== undefined) return place;
  throw new HttpProblem({ code: "invalid-query", errors: [{ parameter: "cursor", message: "not a cursor of this list" }] });
}

const groups = (reads: ManagerReads) =>
  defineRoute("groupErrors")({
    tag: "Errors",
    summary: "The errors that say the same counted together, the most first (at most 500 groups)",
    answers: { 200: { description: "The groups", examples: { "One group": ERROR_GROUPS } } },
    handle: async () => ({ status: 200, body: await reads.groupErrors() }),
  });

const show = (reads: ManagerReads) =>
  defineRoute("getError")({
    tag: "Errors",
    summary: "One error",
    answers: { 200: { description: "The error", examples: { "An observer was given up": ERROR_ENTRY } } },
    async handle({ errorId }) {
      const error = await reads.findError(errorId);
      return error === undefined ? { kind: "problem", code: "error-not-found" } : { status: 200, body: error };
    },
  });

const retry = (tools: ErrorTools) =>
  defineRoute("retryError")({
    tag: "Errors",
    summary: "Restart the observer that failed with this error, or record the one that the books have lost",
    answers: {
      202: { description: "The observer will run again; the entry stays", examples: { "It is sent again": SENT_AGAIN } },
    },
    async handle({ errorId, by }) {
      const outcome = await tools.retryError(errorId, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });

const remove = (tools: ErrorTools) =>
  defineRoute("deleteError")({
    tag: "Errors",
    summary: "Remove the entry: it has been dealt with",
    answers: { 204: { description: "It is gone" } },
    async handle({ errorId, by }) {
      const outcome = await tools.deleteError(errorId, by);
      return outcome.kind === "problem" ? outcome : { status: 204 };
    },
  });

const ofObservers = (reads: ManagerReads) =>
  defineRoute("getErrorStats")({
    tag: "Errors",
    summary: "What observers failed of last, by what it says and by their status (at most 500 groups)",
    answers: {
      200: { description: "The groups, the largest first", examples: { "One group": OBSERVER_ERRORS } },
    },
    handle: async () => ({ status: 200, body: await reads.groupObserverErrors() }),
  });
