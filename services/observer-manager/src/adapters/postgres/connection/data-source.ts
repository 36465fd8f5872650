import { DataSource, type DataSourceOptions, type Logger, MigrationExecutor } from "typeorm";
import type { Log } from "../../../operations/log.ts";
import { Books0001 } from "../migrations/0001-books.ts";
import { UnknownRuns0002 } from "../migrations/0002-unknown-runs.ts";
import { Features0003 } from "../migrations/0003-features.ts";
import { UnappliedEvents0004 } from "../migrations/0004-unapplied-events.ts";
import { DeliveryCount0006 } from "../migrations/0006-delivery-count.ts";
import { CommandClaims0008 } from "../migrations/0008-command-claims.ts";
import { BrokenFiles0009 } from "../migrations/0009-broken-files.ts";
import { AbsenceProofs0011 } from "../migrations/0011-absence-proofs.ts";
import { Slots0012 } from "../migrations/0012-slots.ts";
import { NotConsuming0013 } from "../migrations/0013-not-consuming.ts";
import { Tasks0014 } from "../migrations/0014-tasks.ts";
import { TaskLimits0015 } from "../migrations/0015-task-limits.ts";
import { TaskKeys0016 } from "../migrations/0016-task-keys.ts";
import { CreateTask0017 } from "../migrations/0017-create-task.ts";
import { TaskStories0018 } from "../migrations/0018-task-stories.ts";
import { TaskTakes0019 } from "../migrations/0019-task-takes.ts";
import { TaskParents0020 } from "../migrations/0020-task-parents.ts";
import { TaskFigures0021 } from "../migrations/0021-task-figures.ts";
import { TaskRequests0022 } from "../migrations/0022-task-requests.ts";
import { ClaimFloors0023 } from "../migrations/0023-claim-floors.ts";
import { Timers0024 } from "../migrations/0024-timers.ts";
import { Pause0025 } from "../migrations/0025-pause.ts";
import { Schedules0026 } from "../migrations/0026-schedules.ts";
import { Flows0028 } from "../migrations/0028-flows.ts";
import { TimerNames0030 } from "../migrations/0030-timer-names.ts";
import { ScheduledObservers0031 } from "../migrations/0031-scheduled-observers.ts";
import { ChangedObservers0032 } from "../migrations/0032-changed-observers.ts";
import { Admission0033 } from "../migrations/0033-admission.ts";
import { Silence0034 } from "../migrations/0034-silence.ts";
import { TimerClaims0035 } from "../migrations/0035-timer-claims.ts";
import { History0037 } from "../migrations/0037-history.ts";
import { RunFigures0038 } from "../migrations/0038-run-figures.ts";
import { HotUpdate0039 } from "../migrations/0039-hot-update.ts";
import { KnownFeatures0041 } from "../migrations/0041-known-features.ts";
import { Works0043 } from "../migrations/0043-works.ts";
import { Balance0046 } from "../migrations/0046-balance.ts";
import { Reload0047 } from "../migrations/0047-reload.ts";
import { FlightCounts0048 } from "../migrations/0048-flight-counts.ts";
import { TimerClaimsApart0049 } from "../migrations/0049-timer-claims-apart.ts";
import { EndedTasksOfPool0050 } from "../migrations/0050-ended-tasks-of-pool.ts";
import { TaskWishes0051 } from "../migrations/0051-task-wishes.ts";
import { ServicesGone0052 } from "../migrations/0052-services-gone.ts";
import { TasksByAge0053 } from "../migrations/0053-tasks-by-age.ts";
import { TaskIds0054 } from "../migrations/0054-task-ids.ts";
import { WishesOnce0055 } from "../migrations/0055-wishes-once.ts";
import { WorksProblem0056 } from "../migrations/0056-works-problem.ts";
import { RunsAskedOnce0057 } from "../migrations/0057-runs-asked-once.ts";
import { AuditOfDeed0058 } from "../migrations/0058-audit-of-deed.ts";
import { TimersByEnd0059 } from "../migrations/0059-timers-by-end.ts";
import { FlowsByStatus0060 } from "../migrations/0060-flows-by-status.ts";
import { PathsWithoutBooks0061 } from "../migrations/0061-paths-without-books.ts";
import { TypeFacts0062 } from "../migrations/0062-type-facts.ts";
import { DueTimersFrom0063 } from "../migrations/0063-due-timers-from.ts";
import { WishesRecorded0064 } from "../migrations/0064-wishes-recorded.ts";
import { EditedTasks0065 } from "../migrations/0065-edited-tasks.ts";
import { POSTGRES_TYPES } from "../tables/column.ts";
import { TABLES } from "../tables/tables.ts";
import { SIZES, TableSizes } from "../upkeep/table-sizes.ts";
import { describeDatabaseError } from "./database-error.ts";
import { Primary } from "./primary.ts";
import { PRIMARY_DRIVER, PrimaryClient } from "./primary-pool.ts";
import type { DatabaseAddress } from "./ssl-mode.ts";

export interface DatabaseSettings {
  /** postgres://user:password@host:port/database; never logged. */
  databaseUrl: string;
  /** Connections at most; pg opens them as needed. Default 10. */
  poolSize?: number;
  /** Given with the address; not encrypted if left out. */
  ssl?: DatabaseAddress["ssl"];
  /** Where there are several: which of them it is, of which `databaseUrl` and `ssl` are one. Default: that one alone. */
  primary?: Primary;
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
/** What looks together each few seconds needs as many each time: a new one costs PostgreSQL a process, and its first statements a plan each. */
const IDLE_CONNECTION_MS = 60_000;
/** A frozen manager (SIGSTOP) must not hold its locks for ever. */
const IDLE_IN_TRANSACTION_MS = 30_000;

/** Any number, the same for all managers: the key of the lock that lets one of them migrate at a time. */
const MIGRATION_LOCK_KEY = 7_026_517_001;

/** Also between two transactions. PostgreSQL 13 does not know it. */
const END_WHEN_IDLE =
  "SELECT set_config('idle_session_timeout', $1, false) FROM pg_settings WHERE name = 'idle_session_timeout'";
/** Whatever the server, the database or the role has as defaults. PostgreSQL has the last one from 17 on. */
const UNLIMITED = `
  SELECT set_config(name, '0', false) FROM pg_settings
  WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout')`;
/**
 * Whoever waits for a table has all wait who come after: managers that serve. What is held for longer, as by a dump, is waited for by trying again.
 */
const LOCKED_FOR_MS = 2_000;
const GIVE_UP_LOCKED = "SELECT set_config('lock_timeout', $1, false)";
const KEPT_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 5_000 };

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
    migrations: [
      Books0001,
      UnknownRuns0002,
      Features0003,
      UnappliedEvents0004,
      DeliveryCount0006,
      CommandClaims0008,
      BrokenFiles0009,
      AbsenceProofs0011,
      Slots0012,
      NotConsuming0013,
      Tasks0014,
      TaskLimits0015,
      TaskKeys0016,
      CreateTask0017,
      TaskStories0018,
      TaskTakes0019,
      TaskParents0020,
      TaskFigures0021,
      TaskRequests0022,
      ClaimFloors0023,
      Timers0024,
      Pause0025,
      TimerNames0030,
      Schedules0026,
      Flows0028,
      ScheduledObservers0031,
      Silence0034,
      TimerClaims0035,
      History0037,
      ChangedObservers0032,
      Admission0033,
      RunFigures0038,
      HotUpdate0039,
      KnownFeatures0041,
      Balance0046,
      Works0043,
      Reload0047,
      FlightCounts0048,
      TimerClaimsApart0049,
      EndedTasksOfPool0050,
      TaskWishes0051,
      ServicesGone0052,
      TasksByAge0053,
      TaskIds0054,
      WishesOnce0055,
      WorksProblem0056,
      RunsAskedOnce0057,
      AuditOfDeed0058,
      TimersByEnd0059,
      FlowsByStatus0060,
      PathsWithoutBooks0061,
      TypeFacts0062,
      DueTimersFrom0063,
      WishesRecorded0064,
      EditedTasks0065,
    ],
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

/**
 * Brings the schema up to date. Comes in: an initialised DataSource. Guarantees: all migrations applied, also when several
 * managers start at once (an advisory lock lets one work, the others wait and find nothing to do). A crash in the middle
 * leaves the old schema (one transaction) and no lock (it belongs to the session, which PostgreSQL ends where its manager is frozen, or on a machine
 * that is gone without a word). So does a table that another holds for long: it rejects, to be tried again, rather than have all wait behind it. Answers the names of those it applied. It works on a connection of its own, since neither waiting for the lock nor a
 * migration should meet a limit of time, ours or one of the database's; a database that goes without a word meanwhile is found out by TCP.
 * @param idleMs for so long its session may ask nothing
 */
export async function migrate(dataSource: DataSource, idleMs = IDLE_IN_TRANSACTION_MS): Promise<string[]> {
  const { Client, primary } = (dataSource.options as { extra: Record<string, unknown> }).extra;
  const extra = { Client, primary, ...KEPT_ALIVE, idle_in_transaction_session_timeout: idleMs };
  const options = { ...dataSource.options, entities: [], poolSize: 1, extra } as DataSourceOptions;
  const own = await new DataSource(options).initialize();
  try {
    const session = own.createQueryRunner();
    await session.query(END_WHEN_IDLE, [String(idleMs)]);
    await session.query(UNLIMITED);
    await session.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK_KEY]);
    await session.query(GIVE_UP_LOCKED, [String(LOCKED_FOR_MS)]);
    const applied = await new MigrationExecutor(own, session).executePendingMigrations();
    await session.release();
    return applied.map((migration) => migration.name);
  } finally {
    await own.destroy(); // ends the session, and with it the lock
  }
}

/** Whether the books began with these migrations. */
export const areNew = (applied: readonly string[]): boolean => applied.includes(new Books0001().name);

const MAX_LOGGED_SQL_LENGTH = 300;

/** TypeORM's log without a single parameter: our SQL is constant text, so the statement can be shown and its values not. */
export function typeormLog(log: Log): Logger {
  const nothing = () => undefined;
  return {
    logQuery: nothing,
    logSchemaBuild: nothing,
    // A failure is thrown to the caller, who knows whether it matters; here it would be told twice.
    logQueryError: nothing,
    logQuerySlow: (timeMs: number, query: string) =>
      log.warn({ timeMs, sql: query.slice(0, MAX_LOGGED_SQL_LENGTH) }, "A database statement was slow"),
    logMigration: (message: string) => log.info({ message }, "Migration"),
    log: (level, message: unknown) => {
      if (level === "warn") log.warn({ message: String(message) }, "TypeORM warns");
    },
  };
}

/** An idle connection broke: the pool has already thrown it away and makes a new one at the next query. */
export function logIdleConnectionLost(log: Log): (error: unknown) => void {
  return (error) => log.warn(describeDatabaseError(error).fields, "An idle database connection was lost");
}
