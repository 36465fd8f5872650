import type { AuditPosition } from "../../../../operations/access/audit.ts";
import { decodeAuditCursor } from "../../../../operations/cursor.ts";
import type { ManagerReads } from "../../../../operations/manager-reads.ts";
import { AUDIT_PAGE } from "../../openapi/examples/access-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { observerParameter } from "../request-input.ts";
import { defineRoute } from "../route.ts";

/** The call that lists who did what. */
export const auditRoute = (reads: ManagerReads) =>
  defineRoute("listAudit")({
    tag: "Audit",
    summary: "Who changed what and when, newest first",
    description:
      "An entry for every call that changed something, written in the same transaction as the change. A call for many is one " +
      "entry, with how many and the first of their names: by `target` it is found for these alone. It is kept as long as deleted observers are (RETENTION_DAYS). Who copies them elsewhere asks by " +
      "`since` again from further back than the longest transaction takes, and keeps them by `id`: `at` is when an entry's transaction began, so one may be seen " +
      "after later ones, and `count` grows until a call for very many, or its bulk work, is over.",
    answers: { 200: { description: "One page", examples: { "A stop of many": AUDIT_PAGE } } },
    async handle({ query: { cursor, observer, deed, action = deed, ...query } }) {
      if (query.targetKind !== undefined && query.target === undefined) throw kindAlone();
      const filter = { ...query, action, observer: observerParameter(observer), after: placeOf(cursor) };
      return { status: 200, body: await reads.listAudit(filter) };
    },
  });

function kindAlone(): HttpProblem {
  const message = "it is the kind of a `target`, and none is given";
  return new HttpProblem({ code: "invalid-query", errors: [{ parameter: "targetKind", message }] });
}

function placeOf(cursor: string | undefined): AuditPosition | undefined {
  const place = cursor === undefined ? undefined : decodeAuditCursor(cursor);
  if (cursor === undefined || place !== undefined) return place;
  throw new HttpProblem({ code: "invalid-query", errors: [{ parameter: "cursor", message: "not a cursor of this list" }] });
}
