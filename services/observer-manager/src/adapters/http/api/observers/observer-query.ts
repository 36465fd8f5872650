import { type CALLS, HOW_LABELS_ARE_SELECTED, type ObserverFilter, parseLabelSelector } from "@unacked/contracts";
import type { z } from "zod";
import { decodeObserverCursor } from "../../../../operations/cursor.ts";
import type { ObserverQuery } from "../../../../operations/observers/observer-tools.ts";
import { HttpProblem } from "../http-problem.ts";

/** The query of GET /observers and /observer-columns. Throws HttpProblem for a cursor or label that does not decode. */
export function toObserverQuery(
  query: z.output<typeof CALLS.listObservers.query | typeof CALLS.listObserverColumns.query>,
): ObserverQuery {
  const { label = [], cursor, silent, ...rest } = query;
  const after = cursor === undefined ? undefined : decodeObserverCursor(cursor, query.sort);
  if (cursor !== undefined && after === undefined) {
    throw new HttpProblem({
      code: "invalid-query",
      errors: [{ parameter: "cursor", message: "not a cursor of this list and sort" }],
    });
  }
  return { ...rest, ...(silent && { silent }), ...labelsOf(label), after };
}

/** All labels must match. Two values of one key match no observer, which is written as no status. */
function labelsOf(texts: readonly string[]): Pick<ObserverFilter, "labels" | "status"> {
  const all = texts.map(labelOf);
  if (all.length === 0) return {};
  const labels = Object.fromEntries(all.map(({ key, value }) => [key, value]));
  const isPossible = all.every(({ key, value }) => labels[key] === value);
  return isPossible ? { labels } : { labels, status: [] };
}

function labelOf(text: string): { key: string; value: string } {
  const label = parseLabelSelector(text);
  if (label !== undefined) return label;
  throw new HttpProblem({ code: "invalid-query", errors: [{ parameter: "label", message: HOW_LABELS_ARE_SELECTED }] });
}
