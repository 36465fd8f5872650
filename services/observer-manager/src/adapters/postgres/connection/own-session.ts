import { setTimeout as sleep } from "node:timers/promises";
import type { DataSource, QueryRunner } from "typeorm";
import { UnusableDatabaseError } from "./unusable-database.ts";

/**
 * A pooler by transaction gives each transaction of ours any session of the server: a session's locks, settings and LISTEN then belong to
 * somebody else.
 */
export class PooledByTransactionError extends UnusableDatabaseError {
  override readonly name = "PooledByTransactionError";

  constructor() {
    super(
      "DATABASE_URL leads through a pooler by transaction, by which locks and notifications of a session are lost: " +
        "name PostgreSQL itself, or a pooler by session (PgBouncer: pool_mode = session)",
    );
  }
}

const PID = "SELECT pg_backend_pid() AS pid";
/** PgBouncer has us wait two minutes for a session (`query_wait_timeout`). */
const ANSWER_WITHIN_MS = 5_000;

/** A pooler that shares sessions gives the one that was ours to the transaction that begins meanwhile, and us another; or none, until that one ends. */
export async function refuseSharedSession(session: QueryRunner, others: DataSource): Promise<void> {
  const pid = async () => ((await session.query(PID)) as { pid: number }[])[0]?.pid;
  const before = await pid();
  const after = await others.transaction(async (other) => {
    await other.query(PID);
    return Promise.race([pid(), sleep(ANSWER_WITHIN_MS, undefined, { ref: false })]);
  });
  if (before !== after) throw new PooledByTransactionError();
}
