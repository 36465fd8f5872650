import { DataSource, type DataSourceOptions, MigrationExecutor } from "typeorm";
import { IDLE_IN_TRANSACTION_MS } from "./data-source.ts";
import { refuseSharedSession } from "./own-session.ts";
import { UnusableDatabaseError } from "./unusable-database.ts";

/** Any number, the same for all managers: the key of the lock that lets one of them migrate at a time. */
const MIGRATION_LOCK_KEY = 7_026_517_001;

/** The session also ends if it idles between two transactions. PostgreSQL 13 does not know this setting. */
const END_WHEN_IDLE =
  "SELECT set_config('idle_session_timeout', $1, false) FROM pg_settings WHERE name = 'idle_session_timeout'";
/** Sets no limits, whatever the defaults of server, database or role. PostgreSQL has the last setting from 17 on. */
const UNLIMITED = `
  SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout')`;
/**
 * Whoever waits for a table's lock makes all who come later wait, too: managers that serve. A table that is held for longer, as by a dump,
 * is tried again instead.
 */
const LOCKED_FOR_MS = 2_000;
const GIVE_UP_LOCKED = "SELECT set_config('lock_timeout', $1, false)";
const KEPT_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 };

/** There is no way on from the tables of a commit that was never released: migrations are changed until their release. */
export class UnreleasedBooksError extends UnusableDatabaseError {
  override readonly name = "UnreleasedBooksError";

  constructor(migration: string) {
    super(
      `the database was made by a commit that was never released (${migration} is no migration of any release): ` +
        "take a new one (npm start -- --fresh, or unacked dev --fresh, empties that of earlier starts)",
    );
  }
}

/**
 * Brings the schema up to date; the DataSource has to be initialised. Guarantees: all migrations are applied, also when several managers
 * start at once (an advisory lock lets one work, the others wait and find nothing to do). A crash in the middle leaves the old schema (one
 * transaction) and no lock (it belongs to the session, which PostgreSQL ends if its manager is frozen, or on a machine that is gone without
 * a word). If another holds a table for long, the old schema stays, too: this rejects, to be tried again, rather than have all wait behind
 * it. Tables of an unreleased commit are left as they are. It works on a connection of its own: neither waiting for the lock nor a
 * migration should meet a limit of time, ours or one of the database's; TCP finds out a database that goes without a word meanwhile.
 * @param idleMs PostgreSQL ends the session if it asks nothing for so long
 * @returns the names of the migrations that were applied
 */
export async function migrate(dataSource: DataSource, idleMs = IDLE_IN_TRANSACTION_MS): Promise<string[]> {
  const { Client, primary } = (dataSource.options as { extra: Record<string, unknown> }).extra;
  const extra = { Client, primary, ...KEPT_ALIVE, idle_in_transaction_session_timeout: idleMs };
  const options = { ...dataSource.options, entities: [], poolSize: 1, extra } as DataSourceOptions;
  const own = await new DataSource(options).initialize();
  try {
    const session = own.createQueryRunner();
    await refuseSharedSession(session, dataSource);
    await session.query(END_WHEN_IDLE, [String(idleMs)]);
    await session.query(UNLIMITED);
    await session.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK_KEY]);
    await session.query(GIVE_UP_LOCKED, [String(LOCKED_FOR_MS)]);
    const executor = new MigrationExecutor(own, session);
    await refuseUnreleased(executor, own);
    const applied = await executor.executePendingMigrations();
    await session.release();
    return applied.map((migration) => migration.name);
  } finally {
    await own.destroy(); // ends the session, and with it the lock
  }
}

/**
 * Refuses migrations that are unknown here, yet earlier than the last known one (names end with a time). Those of a later version are
 * later. Those of another program that keeps its tables in this schema are no business of ours: TypeORM ends their names with the ms in
 * which they were made, and ours end with `000` and a number.
 */
async function refuseUnreleased(executor: MigrationExecutor, { migrations }: DataSource): Promise<void> {
  const known = new Set(migrations.map(({ name }) => name));
  const last = Math.max(...migrations.map(({ name }) => Number(name?.slice(-13))));
  const applied = await executor.getExecutedMigrations();
  const isOurs = (timestamp: number): boolean => timestamp % 100_000 < 100;
  const unreleased = applied.find(({ name, timestamp }) => !known.has(name) && timestamp < last && isOurs(timestamp));
  if (unreleased !== undefined) throw new UnreleasedBooksError(unreleased.name);
}
