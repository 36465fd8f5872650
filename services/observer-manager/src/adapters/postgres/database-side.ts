import { MANAGER_FEATURES, type ReadinessCheck } from "@unacked/contracts";
import type { TlsFiles } from "@unacked/settings";
import type { DataSource } from "typeorm";
import type { ActionDone } from "../../operations/access/audit.ts";
import type { BalanceStore } from "../../operations/balance/balance-store.ts";
import type { BooksStore, ErrorBook } from "../../operations/books/books-store.ts";
import type { UnappliedStore } from "../../operations/books/late-events.ts";
import type { RetentionStore } from "../../operations/books/retention.ts";
import type { ChangeLog, Wakeups } from "../../operations/changes/change-log.ts";
import type { CommandCount, CommandStore } from "../../operations/commands/command-store.ts";
import type { FeatureStore } from "../../operations/features/feature-gate.ts";
import type { FlowCounts, FlowFollowStore, FlowStore } from "../../operations/flows/flow-store.ts";
import type { Log } from "../../operations/log.ts";
import type { LogPlaces } from "../../operations/logs/log-source.ts";
import { Loop } from "../../operations/loop.ts";
import type { ManagerReads } from "../../operations/manager-reads.ts";
import type { ReconcilerStore } from "../../operations/observers/reconciler.ts";
import type { ScheduledStartStore } from "../../operations/observers/scheduled-starts.ts";
import type { PoolStore } from "../../operations/pools/pool-keeper.ts";
import type { AskQueues } from "../../operations/pools/pool-queues.ts";
import type { RequestStore } from "../../operations/requests/request-store.ts";
import type { LevelStore } from "../../operations/schedules/level-store.ts";
import type { ScheduleCounts, ScheduleFiringStore, ScheduleStore } from "../../operations/schedules/schedule-store.ts";
import type { SilenceStore } from "../../operations/services/prober.ts";
import type { ServiceStore } from "../../operations/services/service-desk.ts";
import type { TaskFailureStore } from "../../operations/tasks/task-failure-store.ts";
import type { TaskFigureStore } from "../../operations/tasks/task-figure-store.ts";
import type { TaskProofStore } from "../../operations/tasks/task-prover.ts";
import type { TaskDays } from "../../operations/tasks/task-retention.ts";
import type {
  TaskBulkStore,
  TaskCounts,
  TaskLedgerStore,
  TaskQueueStore,
  TaskStore,
  TaskTypeStore,
} from "../../operations/tasks/task-store.ts";
import type { TaskTakeStore } from "../../operations/tasks/task-take-store.ts";
import type { TaskLimitStore } from "../../operations/tasks/task-type-desk.ts";
import type { TimerCounts, TimerFiringStore, TimerStore } from "../../operations/timers/timer-store.ts";
import type { TypeDirectory } from "../../operations/types/type-check.ts";
import type { LivePools } from "../../operations/types/unknown-type.ts";
import type { WorkStore } from "../../operations/work/work-store.ts";
import { missingActions, onActionsCommitted } from "./access/committed-actions.ts";
import { PostgresBalanceStore } from "./balance/postgres-balance-store.ts";
import { PostgresBooksStore } from "./books/postgres-books-store.ts";
import { adoptRestoredRows } from "./books/restored-rows.ts";
import { PostgresRetentionStore } from "./books/retention-store.ts";
import { PostgresUnappliedStore } from "./books/unapplied-events.ts";
import { PostgresChangeLog } from "./changes/change-feed.ts";
import { countCommands, PostgresCommandStore } from "./commands/postgres-command-store.ts";
import { areNew, createDataSource, migrate } from "./connection/data-source.ts";
import { checkDatabase, unavailable } from "./connection/database-check.ts";
import { describeBeforeBooks, describeDatabaseError, isLocked } from "./connection/database-error.ts";
import { databaseUrls } from "./connection/database-urls.ts";
import { type Channel, Notifications } from "./connection/notifications.ts";
import { Primary } from "./connection/primary.ts";
import { warnOfSchemaCreators } from "./connection/schema-creators.ts";
import { sslOptions } from "./connection/ssl-mode.ts";
import { recordErrors } from "./errors/error-rows.ts";
import { PostgresFeatureStore } from "./features/feature-store.ts";
import { countFlows } from "./flows/flow-counts.ts";
import { PostgresFlowFollowStore } from "./flows/flow-follow-store.ts";
import { PostgresFlowStore } from "./flows/postgres-flow-store.ts";
import { PostgresLogPlaces } from "./logs/log-places.ts";
import { PostgresProofStore } from "./observers/proof-store.ts";
import { PostgresReconcilerStore } from "./observers/reconciler-store.ts";
import { PostgresScheduledStartStore } from "./observers/scheduled-start-store.ts";
import { PostgresPoolStore } from "./pools/pool-store.ts";
import { postgresReads } from "./postgres-reads.ts";
import { PostgresRequestStore } from "./requests/postgres-request-store.ts";
import { PostgresLevelStore } from "./schedules/postgres-level-store.ts";
import { PostgresScheduleStore } from "./schedules/postgres-schedule-store.ts";
import { countSchedules } from "./schedules/schedule-counts.ts";
import { PostgresScheduleFiringStore } from "./schedules/schedule-firing-store.ts";
import { PostgresServiceStore } from "./services/service-store.ts";
import { PostgresSilenceStore } from "./services/silence-store.ts";
import { rethrowRefused } from "./statements/refused.ts";
import { PostgresTaskStore } from "./tasks/postgres-task-store.ts";
import { PostgresTaskBulkStore } from "./tasks/task-bulk-store.ts";
import { countTasks } from "./tasks/task-counts.ts";
import { PostgresTaskDays } from "./tasks/task-days.ts";
import { PostgresTaskFailureStore } from "./tasks/task-failure-store.ts";
import { PostgresTaskFigureStore } from "./tasks/task-figure-store.ts";
import { PostgresTaskLedgerStore } from "./tasks/task-ledger-store.ts";
import { PostgresTaskLimitStore } from "./tasks/task-limit-store.ts";
import { PostgresTaskProofStore } from "./tasks/task-proof-store.ts";
import { PostgresTaskQueueStore } from "./tasks/task-queue-store.ts";
import { PostgresTaskTakeStore } from "./tasks/task-take-store.ts";
import { PostgresTimerStore } from "./timers/postgres-timer-store.ts";
import { countTimers } from "./timers/timer-counts.ts";
import { PostgresTimerFiringStore } from "./timers/timer-firing-store.ts";
import { PostgresTypeDirectory } from "./types/type-reads.ts";
import { PostgresWorkStore } from "./work/postgres-work-store.ts";

export interface DatabaseSideSettings {
  databaseUrl: string;
  tls: TlsFiles;
  poolSize: number;
  log: Log;
}

const AGAIN_MS = 1_000;
/** Managers that serve wait for as long as a migration waits for a lock. */
const HELD_AGAIN_MS = 5_000;

/** Everything of the manager that lives in PostgreSQL: one pool of connections, and one that listens. */
export class DatabaseSide {
  readonly books: BooksStore;
  readonly commands: CommandStore;
  readonly errors: ErrorBook;
  readonly silence: SilenceStore;
  readonly reconciliation: ReconcilerStore;
  readonly scheduledStarts: ScheduledStartStore;
  readonly proofs: PostgresProofStore;
  readonly pools: PoolStore;
  readonly retention: RetentionStore;
  readonly types: TypeDirectory;
  readonly services: ServiceStore;
  readonly logPlaces: LogPlaces;
  readonly changes: ChangeLog;
  readonly balance: BalanceStore;
  readonly features: FeatureStore;
  readonly unapplied: UnappliedStore;
  readonly work: WorkStore;
  readonly tasks: {
    readonly ledger: TaskLedgerStore;
    readonly queue: TaskQueueStore;
    readonly store: TaskStore & TaskTypeStore & LivePools;
    readonly proofs: TaskProofStore;
    readonly days: TaskDays;
    readonly limits: TaskLimitStore;
    readonly bulk: TaskBulkStore;
    readonly takes: TaskTakeStore;
    readonly failures: TaskFailureStore;
    readonly figures: TaskFigureStore;
    readonly requests: RequestStore;
    counts(): Promise<TaskCounts>;
  };
  readonly flows: {
    readonly store: FlowStore;
    readonly following: FlowFollowStore;
    counts(): Promise<FlowCounts>;
  };
  readonly timers: {
    readonly store: TimerStore;
    readonly firing: TimerFiringStore;
    counts(): Promise<TimerCounts>;
  };
  readonly schedules: {
    readonly store: ScheduleStore;
    readonly firing: ScheduleFiringStore;
    readonly levels: LevelStore;
    counts(): Promise<ScheduleCounts>;
  };
  readonly #dataSource: DataSource;
  readonly #primary: Primary;
  readonly #notifications: Notifications;
  readonly #log: Log;
  /** Why the books could not be opened. */
  #lastFailure: ReadinessCheck | undefined;
  /** Why migrations that it lacks are not applied. */
  #notMigrated: ReadinessCheck | undefined;
  readonly #catchUp = new Loop({ round: () => this.#lookAgain(), failed: (error) => this.#failed(error) });
  #checking: Promise<ReadinessCheck> | undefined;
  #isOpen = false;
  #committed: (done: readonly ActionDone[]) => void = () => undefined;

  constructor({ databaseUrl, tls, poolSize, log }: DatabaseSideSettings) {
    this.#log = log;
    const [first = "", ...others] = databaseUrls(databaseUrl);
    const address = sslOptions(first, tls);
    this.#primary = new Primary([address, ...others.map((url) => sslOptions(url, tls))], log);
    this.#dataSource = createDataSource({
      databaseUrl: address.url,
      ssl: address.ssl,
      primary: this.#primary,
      poolSize,
      log,
    });
    this.#notifications = new Notifications(this.#primary, log);
    this.#notifications.onConnected(() => this.#catchUp.wake());
    this.books = new PostgresBooksStore(this.#dataSource);
    this.commands = new PostgresCommandStore(this.#dataSource);
    this.errors = { record: (all) => recordErrors(this.#dataSource, all).catch(rethrowRefused) };
    this.silence = new PostgresSilenceStore(this.#dataSource);
    this.reconciliation = new PostgresReconcilerStore(this.#dataSource);
    this.scheduledStarts = new PostgresScheduledStartStore(this.#dataSource);
    this.proofs = new PostgresProofStore(this.#dataSource);
    this.pools = new PostgresPoolStore(this.#dataSource);
    this.retention = new PostgresRetentionStore(this.#dataSource);
    this.types = new PostgresTypeDirectory(this.#dataSource);
    this.services = new PostgresServiceStore(this.#dataSource);
    this.logPlaces = new PostgresLogPlaces(this.#dataSource);
    this.changes = new PostgresChangeLog(this.#dataSource);
    this.balance = new PostgresBalanceStore(this.#dataSource);
    this.features = new PostgresFeatureStore(this.#dataSource);
    this.unapplied = new PostgresUnappliedStore(this.#dataSource);
    this.work = new PostgresWorkStore(this.#dataSource);
    this.tasks = {
      ledger: new PostgresTaskLedgerStore(this.#dataSource),
      queue: new PostgresTaskQueueStore(this.#dataSource),
      store: new PostgresTaskStore(this.#dataSource),
      proofs: new PostgresTaskProofStore(this.#dataSource),
      days: new PostgresTaskDays(this.#dataSource),
      limits: new PostgresTaskLimitStore(this.#dataSource),
      bulk: new PostgresTaskBulkStore(this.#dataSource),
      takes: new PostgresTaskTakeStore(this.#dataSource),
      failures: new PostgresTaskFailureStore(this.#dataSource),
      figures: new PostgresTaskFigureStore(this.#dataSource),
      requests: new PostgresRequestStore(this.#dataSource),
      counts: () => countTasks(this.#dataSource),
    };
    this.flows = {
      store: new PostgresFlowStore(this.#dataSource),
      following: new PostgresFlowFollowStore(this.#dataSource),
      counts: () => countFlows(this.#dataSource),
    };
    this.timers = {
      store: new PostgresTimerStore(this.#dataSource),
      firing: new PostgresTimerFiringStore(this.#dataSource),
      counts: () => countTimers(this.#dataSource),
    };
    this.schedules = {
      store: new PostgresScheduleStore(this.#dataSource),
      firing: new PostgresScheduleFiringStore(this.#dataSource),
      levels: new PostgresLevelStore(this.#dataSource),
      counts: () => countSchedules(this.#dataSource),
    };
  }

  reads(askQueues: AskQueues): ManagerReads {
    return postgresReads(this.#dataSource, askQueues);
  }

  commandCounts(): Promise<CommandCount[]> {
    return countCommands(this.#dataSource);
  }

  notifications(channel: Channel): Wakeups {
    return this.#notifications.of(channel);
  }

  /** Connects and brings the schema up to date. @returns 0; or in how many ms to try again, while the database is away or its tables are held */
  async open(): Promise<number> {
    try {
      if (!this.#dataSource.isInitialized) await this.#connect();
      const applied = await this.#migrate();
      this.#log.info({ event: "books-open", applied }, "the schema is up to date");
      // Nobody has read anything for them yet, so nobody has who does not know what this manager does (docs/decisions/0020).
      if (areNew(applied)) await this.features.noteKnown(MANAGER_FEATURES);
      await this.#makeTaskDays();
      const adopted = await adoptRestoredRows(this.#dataSource);
      if (adopted > 0) this.#log.info({ event: "books-restored", rows: adopted }, "the books are from another server");
      await warnOfSchemaCreators(this.#dataSource, this.#log);
      this.#notifications.start();
      this.#catchUp.start(Number.POSITIVE_INFINITY);
      this.#isOpen = true;
      return 0;
    } catch (error) {
      if (!describeDatabaseError(error).unavailable) throw error;
      return this.#failed(error);
    }
  }

  async #migrate(): Promise<string[]> {
    const applied = await migrate(this.#dataSource);
    this.#notMigrated = undefined;
    return applied;
  }

  /** A standby that was promoted, or what a proxy leads to by now, may be of before the last migrations. */
  async #lookAgain(): Promise<number> {
    this.#catchUp.takeWake();
    this.#isOpen = false;
    const applied = await this.#migrate();
    this.#isOpen = true;
    if (applied.length === 0) return Number.POSITIVE_INFINITY;
    this.#log.warn({ event: "schema-caught-up", applied }, "the database lacked migrations, and has them now");
    await this.#makeTaskDays();
    return Number.POSITIVE_INFINITY;
  }

  /** @returns in how many ms to try again */
  #failed(error: unknown): number {
    const { unavailable: isPassing, fields } = describeDatabaseError(error);
    const check = unavailable(fields);
    const isHeld = isLocked(error);
    if (!this.#dataSource.isInitialized) this.#lastFailure = check;
    // What the database itself says would not tell that its tables are not there.
    if (isHeld || !isPassing) this.#notMigrated = check;
    const why = isHeld ? "a migration waits for tables that others hold" : "PostgreSQL cannot be reached";
    this.#log.warn({ err: error, remedy: check.remedy }, `${isPassing ? why : "a migration fails"}; trying again`);
    return isHeld || !isPassing ? HELD_AGAIN_MS : AGAIN_MS;
  }

  /** Before anybody is served: in a new database no task can end without a partition for its day. Where it fails retention tries it again. */
  async #makeTaskDays(): Promise<void> {
    try {
      await new PostgresTaskDays(this.#dataSource).makeAhead();
    } catch (error) {
      this.#log.warn({ err: error }, "the days of ended tasks could not be made; it is tried again");
    }
  }

  async #connect(): Promise<void> {
    await this.#dataSource.initialize();
    if (!this.#primary.isOnly) onActionsCommitted(this.#dataSource, (done) => this.#committed(done));
  }

  /** With several databases: what is done for clients, and when another one than before is the primary. */
  onFailover(heard: { committed(done: readonly ActionDone[]): void; moved(): void }): void {
    this.#committed = heard.committed;
    this.#primary.onMoved(heard.moved);
  }

  missingActions(actions: { id: string; count: number }[]): Promise<ReadonlySet<string>> {
    return missingActions(this.#dataSource, actions);
  }

  /** What an error of a call means to who has asked: it may come before the books are open. */
  describeError(error: unknown): ReturnType<typeof describeDatabaseError> {
    return this.#isOpen ? describeDatabaseError(error) : describeBeforeBooks(error);
  }

  /** Who asks while it is being checked is told the same: anybody may ask, and each check takes a connection. */
  async check(): Promise<ReadinessCheck> {
    // Before the first connection there is nobody to ask.
    if (!this.#dataSource.isInitialized && this.#lastFailure !== undefined) return this.#lastFailure;
    if (this.#notMigrated !== undefined) return this.#notMigrated;
    this.#checking ??= checkDatabase(this.#dataSource).finally(() => (this.#checking = undefined));
    return await this.#checking;
  }

  async close(): Promise<void> {
    this.#primary.close();
    this.#catchUp.stop(); // not waited for: it may wait for another manager's migrations
    await this.#notifications.close();
    if (this.#dataSource.isInitialized) await this.#dataSource.destroy();
  }
}
