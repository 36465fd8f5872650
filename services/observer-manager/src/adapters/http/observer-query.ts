import {
  ErrorGroupText,
  Labels,
  looksLikeUuid,
  NamePart,
  ObserverStatus,
  PoolName,
  ServiceName,
  TypeName,
} from "@unacked/contracts";
import { z } from "zod";
import { decodeObserverCursor } from "../../flows/cursor.ts";
import type { ObserverQuery } from "../../flows/manager-api.ts";
import { HttpProblem } from "./http-problem.ts";
import { flag, listOf, pageLimit } from "./query-fields.ts";

/** GET /observers */
export const ObserverListQuery = z.strictObject({
  status: listOf(ObserverStatus).optional().describe("repeat it, or separate by commas"),
  type: TypeName.optional().describe("the name of an observer type"),
  service: ServiceName.optional().describe("name or id of the service it runs on now"),
  pool: PoolName.optional().describe("the pool of services it belongs to"),
  label: listOf(z.string().max(260), false).optional().describe("`key=value` or `key:value`; repeat it: all must match"),
  q: NamePart.optional().describe("a part of the name, in any case"),
  errorGroup: ErrorGroupText.optional().describe("the group of the last error, as in GET /stats/errors"),
  sort: z
    .enum(["newest", "attempts"])
    .default("newest")
    .describe("`newest`: by creation, the newest first · `attempts`: the most failed attempts first"),
  limit: pageLimit,
  cursor: z.string().max(256).optional().describe("`nextCursor` of the page before"),
});

export const DeleteQuery = z.strictObject({
  force: flag.describe("delete also what has not started, or what nobody answers for"),
});

/** Throws HttpProblem for a cursor or label that does not decode. */
export function toObserverQuery(query: z.output<typeof ObserverListQuery>): ObserverQuery {
  const { status, type, service, pool, label, q, errorGroup, sort, limit, cursor } = query;
  const after = cursor === undefined ? undefined : decodeObserverCursor(cursor, sort);
  if (cursor !== undefined && after === undefined) {
    throw new HttpProblem({
      code: "invalid-query",
      errors: [{ parameter: "cursor", message: "not a cursor of this list and sort" }],
    });
  }
  return {
    ...{ statuses: status, type, pool, nameContains: q, errorGroup, sort, limit, after },
    service: service === undefined ? undefined : serviceRefOf(service),
    labels: label?.map(parseLabel),
  };
}

export const serviceRefOf = (nameOrId: string): NonNullable<ObserverQuery["service"]> =>
  looksLikeUuid(nameOrId) ? { kind: "id", id: nameOrId.toLowerCase() } : { kind: "name", name: nameOrId };

/** `=` cannot stand in a key or value, `:` can: with both, `=` is the separator; with `:` alone, the first one is. */
function parseLabel(text: string): { key: string; value: string } {
  const separator = text.includes("=") ? text.indexOf("=") : text.indexOf(":");
  const [key, value] = [text.slice(0, Math.max(0, separator)), text.slice(separator + 1)];
  const wellFormed = separator > 0 && key !== "__proto__" && Labels.safeParse({ [key]: value }).success;
  if (!wellFormed) {
    throw new HttpProblem({
      code: "invalid-query",
      errors: [{ parameter: "label", message: "must be key=value or key:value" }],
    });
  }
  return { key, value };
}
