import { createHash } from "node:crypto";
import type { PoolClient } from "pg";
import { type EntityManager, QueryFailedError } from "typeorm";

/** No plan is kept for longer: by then the table that it was made for may be a hundred times as large. */
const PLANS_LIVE_MS = 250;

/** When a connection has last dropped its plans, in ms of `performance.now()`. */
const plannedAt = new WeakMap<PoolClient, number>();
const names = new Map<string, string>();

/**
 * A statement of the hot path, prepared: where it is long and much is known by its keys, PostgreSQL plans it for as long as it executes
 * it. A connection keeps its plans for a quarter of a second (DISCARD PLANS), as one that was made for an empty table would read all of a full one:
 * statistics are minutes behind a burst. https://www.postgresql.org/docs/current/sql-prepare.html#SQL-PREPARE-NOTES
 *
 * Rejects as `query` of TypeORM does.
 */
export async function queryPrepared<Row>(tx: EntityManager, text: string, values: unknown[]): Promise<Row[]> {
  const runner = tx.queryRunner;
  if (runner === undefined) throw new Error("the entity manager has no transaction");
  try {
    const client = (await runner.connect()) as PoolClient;
    await dropOldPlans(client);
    return (await client.query<Row & object>({ name: nameOf(text), text, values })).rows;
  } catch (error) {
    throw error instanceof Error ? new QueryFailedError(text, values, error) : error;
  }
}

async function dropOldPlans(client: PoolClient): Promise<void> {
  const nowMs = performance.now();
  const sinceMs = plannedAt.get(client);
  if (sinceMs !== undefined && nowMs - sinceMs < PLANS_LIVE_MS) return;
  plannedAt.set(client, nowMs);
  if (sinceMs !== undefined) await client.query("DISCARD PLANS");
}

function nameOf(text: string): string {
  const name = names.get(text) ?? createHash("sha256").update(text).digest("base64url").slice(0, 22);
  names.set(text, name);
  return name;
}
