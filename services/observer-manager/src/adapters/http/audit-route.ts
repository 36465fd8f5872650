import { AuditedDeed, AuditPage } from "@unacked/contracts";
import { z } from "zod";
import { decodeAuditCursor } from "../../flows/cursor.ts";
import type { AuditPosition, ManagerReads } from "../../flows/manager-api.ts";
import { answer } from "./call-description.ts";
import { AUDIT_PAGE } from "./examples/audit-examples.ts";
import { HttpProblem } from "./http-problem.ts";
import { pageLimit } from "./query-fields.ts";
import { observerParameter } from "./request-input.ts";
import { defineRoute } from "./route.ts";

const text = z
  .string()
  .min(1)
  .max(128)
  .refine((given) => !given.includes("\0"), "the character NUL is not allowed");

/** Who did what. */
export const auditRoute = (reads: ManagerReads) =>
  defineRoute({
    ...{ method: "get", path: "/api/v1/audit", tag: "Audit", operationId: "listAudit" },
    summary: "Who changed what and when, newest first",
    description:
      "An entry for every call that changed something, written in the same transaction as the change. A call for many is one " +
      "entry, with how many and the first of their names. It is kept as long as deleted observers are (RETENTION_DAYS).",
    access: "admin",
    query: z.strictObject({
      actor: text.optional().describe("the name of who did it"),
      deed: AuditedDeed.optional().describe("what was done"),
      observer: z.string().max(128).optional().describe("name or id, among those that the entry names"),
      requestId: text.optional().describe("the X-Request-Id of the call"),
      since: z.iso.datetime({ offset: true }).optional().describe("from then on (ISO 8601)"),
      until: z.iso.datetime({ offset: true }).optional().describe("before then (ISO 8601)"),
      limit: pageLimit,
      cursor: z.string().max(256).optional().describe("`nextCursor` of the page before"),
    }),
    answers: { 200: answer("One page", AuditPage, { "A stop of many": AUDIT_PAGE }) },
    problems: [],
    async handle({ query: { cursor, observer, ...query } }) {
      const filter = { ...query, observer: observerParameter(observer), after: placeOf(cursor) };
      return { status: 200, body: await reads.listAudit(filter) };
    },
  });

function placeOf(cursor: string | undefined): AuditPosition | undefined {
  const place = cursor === undefined ? undefined : decodeAuditCursor(cursor);
  if (cursor === undefined || place !== undefined) return place;
  throw new HttpProblem({ code: "invalid-query", errors: [{ parameter: "cursor", message: "not a cursor of this list" }] });
}
