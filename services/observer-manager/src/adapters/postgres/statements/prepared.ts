import { createHash } from "node:crypto";

/** By text: under which name a connection keeps it. */
const names = new Map<string, string>();

/**
 * Marks a statement of the hot path, whose text is a constant: each connection prepares it once (fail-fast-client.ts). Where it is long and much is
 * known by its keys, PostgreSQL would parse and plan it for as long as it executes it. A connection drops its plans (DISCARD PLANS) when a table has grown (table-sizes.ts), as
 * one that was made for an empty table would read all of a full one: statistics are minutes behind a burst.
 * https://www.postgresql.org/docs/current/sql-prepare.html#SQL-PREPARE-NOTES
 *
 * @returns the text
 */
export function prepared(text: string): string {
  names.set(text, createHash("sha256").update(text).digest("base64url").slice(0, 22));
  return text;
}

/** Undefined: it is not prepared. */
export const nameOfPrepared = (text: unknown): string | undefined =>
  typeof text === "string" ? names.get(text) : undefined;

/**
 * An array parameter of a prepared statement, of which PostgreSQL cannot count when it plans how many are in it. Where it can, a plan for the one or two that a
 * batch has mostly is cheaper than one for any number, so it makes a new one each time: that takes longer than to do it.
 */
export const uncounted = (parameter: string, type: string): string => `(SELECT ${parameter}::${type}[])::${type}[]`;
