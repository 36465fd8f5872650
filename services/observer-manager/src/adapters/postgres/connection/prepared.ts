import { createHash } from "node:crypto";

/** No plan is kept for longer: by then the table that it was made for may be a hundred times as large. */
export const PLANS_LIVE_MS = 250;

/** By text: under which name a connection keeps it. */
const names = new Map<string, string>();

/**
 * Marks a statement of the hot path, whose text is a constant: each connection prepares it once (fail-fast-client.ts). Where it is long and much is
 * known by its keys, PostgreSQL would parse and plan it for as long as it executes it. A connection drops its plans each quarter of a second (DISCARD PLANS), as
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
