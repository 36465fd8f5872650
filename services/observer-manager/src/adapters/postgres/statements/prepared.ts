import { createHash } from "node:crypto";

/** The name under which a connection keeps a statement, by its text. */
const names = new Map<string, string>();

/**
 * Marks a statement of the hot path, whose text is a constant: each connection prepares it once (fail-fast-client.ts). If it is long and
 * finds its rows by keys, PostgreSQL would parse and plan it for as long as it executes it. A connection drops its plans (DISCARD PLANS)
 * when a table has grown (table-sizes.ts): a plan for an empty table would read all of a full one, and statistics are minutes behind a
 * burst.
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
 * An array parameter of a prepared statement whose length PostgreSQL cannot see when it plans. Otherwise a plan for the one or two entries
 * that a batch mostly has would look cheaper than one for any number: PostgreSQL would plan each time, which takes longer than executing.
 */
export const uncounted = (parameter: string, type: string): string => `(SELECT ${parameter}::${type}[])::${type}[]`;
