import {
  ErrorEntry,
  ErrorGroupList,
  ErrorGroupText,
  ErrorPage,
  ErrorReport,
  ObserverErrors,
  ObserverView,
} from "@unacked/contracts";
import { z } from "zod";
import { decodeErrorCursor } from "../../flows/cursor.ts";
import type { ErrorPosition, ErrorTools, ManagerReads } from "../../flows/manager-api.ts";
import { answer, emptyAnswer } from "./call-description.ts";
import { ERROR_ENTRY, ERROR_GROUPS, ERROR_PAGE, OBSERVER_ERRORS } from "./examples/error-examples.ts";
import { SENT_ANEW } from "./examples/observer-examples.ts";
import { HttpProblem } from "./http-problem.ts";
import { pageLimit } from "./query-fields.ts";
import { observerParameter } from "./request-input.ts";
import { defineRoute, type Route } from "./route.ts";

const ERRORS = "/api/v1/errors";
const ONE = `${ERRORS}/{errorId}`;

/** What landed in unacked.error, what observers failed of, and what to do about it. */
export function errorRoutes(reads: ManagerReads, tools: ErrorTools): Route[] {
  return [list(reads), groups(reads), show(reads), retry(tools), remove(tools), ofObservers(reads)];
}

const list = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: ERRORS,
      tag: "Errors",
      operationId: "listErrors",
      summary: "What landed in unacked.error, newest first",
    },
    access: "viewer",
    query: z.strictObject({
      reason: ErrorReport.shape.reason.optional().describe("why the message landed there"),
      group: ErrorGroupText.optional().describe("the `group` of an entry or of GET /errors/groups"),
      observer: z.string().max(128).optional().describe("name or id"),
      limit: pageLimit,
      cursor: z.string().max(256).optional().describe("`nextCursor` of the page before"),
    }),
    answers: { 200: answer("One page", ErrorPage, { "The last page": ERROR_PAGE }) },
    problems: [],
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
  defineRoute({
    ...{
      method: "get",
      path: `${ERRORS}/groups`,
      tag: "Errors",
      operationId: "groupErrors",
      summary: "The errors that say the same counted together, the most first (at most 500 groups)",
    },
    access: "viewer",
    answers: { 200: answer("The groups", ErrorGroupList, { "One group": ERROR_GROUPS }) },
    problems: [],
    handle: async () => ({ status: 200, body: await reads.groupErrors() }),
  });

const show = (reads: ManagerReads) =>
  defineRoute({
    ...{ method: "get", path: ONE, tag: "Errors", operationId: "getError", summary: "One error" },
    access: "viewer",
    answers: { 200: answer("The error", ErrorEntry, { "An observer was given up": ERROR_ENTRY }) },
    problems: ["error-not-found"],
    async handle({ errorId }) {
      const error = await reads.findError(errorId);
      return error === undefined ? { kind: "problem", code: "error-not-found" } : { status: 200, body: error };
    },
  });

const retry = (tools: ErrorTools) =>
  defineRoute({
    ...{
      method: "post",
      path: `${ONE}/retry`,
      tag: "Errors",
      operationId: "retryError",
      summary: "Restart the observer that failed with this error",
    },
    access: "operator",
    answers: {
      202: answer("The observer will run anew; the entry stays", ObserverView, { "It is sent again": SENT_ANEW }),
    },
    problems: [
      ...(["error-not-found", "not-retryable", "observer-not-found", "not-restartable"] as const),
      ...(["already-deleting", "already-deleted", "not-ready", "cross-origin"] as const),
    ],
    async handle({ errorId, by }) {
      const outcome = await tools.retryError(errorId, by);
      return outcome.kind === "problem" ? outcome : { status: 202, body: outcome.observer };
    },
  });

const remove = (tools: ErrorTools) =>
  defineRoute({
    ...{
      method: "delete",
      path: ONE,
      tag: "Errors",
      operationId: "deleteError",
      summary: "Remove the entry: it has been dealt with",
    },
    access: "admin",
    answers: { 204: emptyAnswer("It is gone") },
    problems: ["error-not-found", "cross-origin"],
    async handle({ errorId, by }) {
      const outcome = await tools.deleteError(errorId, by);
      return outcome.kind === "problem" ? outcome : { status: 204 };
    },
  });

const ofObservers = (reads: ManagerReads) =>
  defineRoute({
    ...{
      method: "get",
      path: "/api/v1/stats/errors",
      tag: "Errors",
      operationId: "getErrorStats",
      summary: "What observers failed of last, by what it says and by their status (at most 500 groups)",
    },
    access: "viewer",
    answers: {
      200: answer("The groups, the largest first", ObserverErrors, { "One group": OBSERVER_ERRORS }),
    },
    problems: [],
    handle: async () => ({ status: 200, body: await reads.groupObserverErrors() }),
  });
