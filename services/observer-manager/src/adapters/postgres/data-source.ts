import { DataSource, type DataSourceOptions, MigrationExecutor } from "typeorm";
import type { Log } from "../../flows/log.ts";
import { FailFastClient } from "./fail-fast-client.ts";
import { Books0001 } from "./migrations/0001-books.ts";
import type { DatabaseAddress } from "./ssl-mode.ts";
import { logIdleConnectionLost, typeormLog } from "./typeorm-log.ts";

export interface DatabaseSettings {
  /** postgres://user:password@host:port/database; never logged. */
  databaseUrl: string;
  /** Connections at most; pg opens them as needed. Default 10. */
  poolSize?: number;
  /** Given with the address; not encrypted if left out. */
  ssl?: DatabaseAddress["ssl"];
  log: Log;
  /** Shown in pg_stat_activity. Default "unacked-manager". */
  applicationName?: string;
  /** PostgreSQL ends a statement that runs longer. Default 10 s: so long a client waits for its 503 when nobody answers. */
  statementTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const SLOW_STATEMENT_MS = 1_000;
/** How much longer than PostgreSQL's own limit we wait before the network is taken for cut. */
const ANSWER_GRACE_MS = 2_000;
/** A frozen manager (SIGSTOP) must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** Any number, the same for all managers: the key of the lock that lets one of them migrate at a time. */
const MIGRATION_LOCK_KEY = 7_026_517_001;

/** A DataSource for the books, not yet connected: `await dataSource.initialize()`, which rejects while PostgreSQL is away. */
export function createDataSource(settings: DatabaseSettings): DataSource {
  const statementTimeoutMs = settings.statementTimeoutMs ?? 10_000;
  return new DataSource({
    type: "postgres",
    url: settings.databaseUrl,
    ssl: settings.ssl ?? false,
    poolSize: settings.poolSize ?? 10,
    applicationName: settings.applicationName ?? "unacked-manager",
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    installExtensions: false,
    synchronize: false,
    migrationsRun: false,
    migrations: [Books0001],
    entities: [],
    logger: typeormLog(settings.log),
    maxQueryExecutionTime: SLOW_STATEMENT_MS,
    poolErrorHandler: logIdleConnectionLost(settings.log),
    extra: {
      Client: FailFastClient,
      keepAlive: true,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
  });
}

/**
 * Brings the schema up to date. Comes in: an initialised DataSource. Guarantees: all migrations applied, also when several
 * managers start at once (an advisory lock lets one work, the others wait and find nothing to do). A crash in the middle
 * leaves the old schema (one transaction) and no lock (it belongs to the session). Answers the names of those it applied.
 * It works on a connection of its own, since neither waiting for the lock nor a migration should meet the statement timeout.
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const own = await new DataSource({ ...dataSource.options, poolSize: 1, extra: {} } as DataSourceOptions).initialize();
  try {
    const session = own.createQueryRunner();
    await session.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK_KEY]);
    const applied = await new MigrationExecutor(own, session).executePendingMigrations();
    await session.release();
    return applied.map((migration) => migration.name);
  } finally {
    await own.destroy(); // ends the session, and with it the lock
  }
}
