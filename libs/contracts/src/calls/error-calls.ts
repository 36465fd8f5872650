import { z } from "zod";
import { ErrorReason } from "../messages/error-report.ts";
import { ErrorEntry, ErrorGroupList, ErrorGroupText, ErrorPage, ObserverErrors } from "../rest/errors.ts";
import { ObserverView } from "../rest/observers.ts";
import type { Call } from "./call.ts";
import { pageCursor, pageLimit } from "./query-fields.ts";

/** Calls about the entries of unacked.error, and about what observers failed with. */
export const ERROR_CALLS = {
  listErrors: {
    access: "viewer",
    query: z.strictObject({
      reason: ErrorReason.optional().describe("why the message landed there"),
      group: ErrorGroupText.optional().describe("the `group` of an entry or of GET /errors/groups"),
      observer: z.string().max(128).optional().describe("name or id"),
      limit: pageLimit,
      cursor: pageCursor,
    }),
    answers: { 200: ErrorPage },
    problems: [],
  },
  groupErrors: { access: "viewer", answers: { 200: ErrorGroupList }, problems: [] },
  getError: { access: "viewer", answers: { 200: ErrorEntry }, problems: ["error-not-found"] },
  retryError: {
    access: "operator",
    answers: { 202: ObserverView },
    problems: [
      "error-not-found",
      "not-retryable",
      "observer-not-found",
      "not-restartable",
      "paused",
      "already-deleting",
      "already-deleted",
      "not-ready",
      "cross-origin",
      "name-taken",
      "unknown-type",
      "invalid-body",
    ],
  },
  deleteError: { access: "admin", answers: { 204: null }, problems: ["error-not-found", "cross-origin"] },
  getErrorStats: { access: "viewer", answers: { 200: ObserverErrors }, problems: [] },
} as const satisfies Record<string, Call>;
