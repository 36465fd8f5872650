import { DataSource } from "typeorm";
import type { Log } from "../../../operations/log.ts";
import { MIGRATIONS } from "../migrations/migrations.ts";
import { POSTGRES_TYPES } from "../tables/column.ts";
import { TABLES } from "../tables/tables.ts";
import { SIZES, TableSizes } from "../upkeep/table-sizes.ts";
import { Primary } from "./primary.ts";
import { PRIMARY_DRIVER, PrimaryClient } from "./primary-pool.ts";
import type { DatabaseAddress } from "./ssl-mode.ts";
import { logIdleConnectionLost, typeormLog } from "./typeorm-log.ts";

export interface DatabaseSettings {
  /** postgres://user:password@host:port/database; never logged. */
  databaseUrl: string;
  /** Connections at most; pg opens them as needed. Default 10. */
  poolSize?: number;
  /** Belongs to `databaseUrl`; without it the connection is not encrypted. */
  ssl?: DatabaseAddress["ssl"];
  /** Finds the primary among several servers, of which `databaseUrl` and `ssl` name one. Default: there is only that one. */
  primary?: Primary;
  log: Log;
  /** Shown in pg_stat_activity. Default "unacked-manager". */
  applicationName?: string;
  /** PostgreSQL ends a statement that runs longer. Default 10 s: a client waits about as long for its 503 when nobody answers. */
  statementTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const SLOW_STATEMENT_MS = 1_000;
/** How much longer than PostgreSQL's own limit we wait before the network is taken for cut. */
const ANSWER_GRACE_MS = 2_000;
/**
 * Loops that look together each few seconds need as many connections each time. A new one costs PostgreSQL a process, and a plan for each
 * first statement.
 */
const IDLE_CONNECTION_MS = 60_000;
/** A frozen manager (SIGSTOP) must not hold its locks for ever. */
export const IDLE_IN_TRANSACTION_MS = 30_000;

/** A DataSource for the books, not yet connected: `await dataSource.initialize()`, which rejects while PostgreSQL is away. */
export function createDataSource(settings: DatabaseSettings): DataSource {
  const statementTimeoutMs = settings.statementTimeoutMs ?? 10_000;
  const { databaseUrl: url, ssl, log } = settings;
  const primary = settings.primary ?? new Primary([{ url, ssl: ssl ?? false }], log);
  const tableSizes = new TableSizes(async () => {
    const [row] = await dataSource.query<{ sizes: string | null }[]>(SIZES);
    return row?.sizes ?? "";
  });
  const dataSource: DataSource = new DataSource({
    type: "postgres",
    url,
    ssl: ssl ?? false,
    driver: PRIMARY_DRIVER,
    poolSize: settings.poolSize ?? 10,
    applicationName: settings.applicationName ?? "unacked-manager",
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    installExtensions: false,
    synchronize: false,
    migrationsRun: false,
    migrations: MIGRATIONS,
    entities: TABLES,
    logger: typeormLog(settings.log),
    maxQueryExecutionTime: SLOW_STATEMENT_MS,
    poolErrorHandler: logIdleConnectionLost(settings.log),
    extra: {
      Client: PrimaryClient,
      primary,
      tableSizes,
      keepAlive: true,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      // What a transaction asks without waiting goes out at once, and is done in that order.
      pipeline: true,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
  });
  dataSource.driver.supportedDataTypes.push(...POSTGRES_TYPES);
  return dataSource;
}
