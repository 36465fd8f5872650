import type { Readiness } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { BrokerSide } from "./adapters/amqp/broker-side.ts";
import { type HttpServer, startHttpServer } from "./adapters/http/http-server.ts";
import { PostgresChangeLog } from "./adapters/postgres/change-feed.ts";
import { createDataSource, migrate } from "./adapters/postgres/data-source.ts";
import { checkDatabase } from "./adapters/postgres/database-check.ts";
import { describeDatabaseError } from "./adapters/postgres/database-error.ts";
import { recordErrors } from "./adapters/postgres/error-writes.ts";
import { Notifications } from "./adapters/postgres/notifications.ts";
import { PostgresBooksStore } from "./adapters/postgres/postgres-books-store.ts";
import { PostgresCommandStore } from "./adapters/postgres/postgres-command-store.ts";
import { postgresReads } from "./adapters/postgres/postgres-reads.ts";
import { PostgresSilenceStore } from "./adapters/postgres/silence-store.ts";
import { PostgresTypeDirectory } from "./adapters/postgres/type-reads.ts";
import { ChangeHub } from "./flows/change-hub.ts";
import { Dispatcher } from "./flows/dispatcher.ts";
import { Ledger } from "./flows/ledger.ts";
import { ObserverLifecycle } from "./flows/lifecycle.ts";
import type { Log } from "./flows/log.ts";
import type { ManagerApi } from "./flows/manager-api.ts";
import { Prober } from "./flows/prober.ts";
import { TypeCheck } from "./flows/type-check.ts";
import type { ManagerSettings } from "./settings.ts";

export interface ManagerParts {
  settings: ManagerSettings;
  managerId: string;
  version: string;
  log: Log;
}

/** Wires the flows to their adapters, and starts and ends them in order. It decides nothing. */
export class ObserverManager {
  readonly #parts: ManagerParts;
  readonly #dataSource: DataSource;
  readonly #notifications: Notifications;
  readonly #broker: BrokerSide;
  readonly #dispatcher: Dispatcher;
  readonly #prober: Prober;
  readonly #changes: ChangeHub;
  readonly #api: ManagerApi;
  #http: HttpServer | undefined;

  constructor(parts: ManagerParts) {
    const { settings, managerId, log } = parts;
    this.#parts = parts;
    this.#dataSource = createDataSource({ databaseUrl: settings.DATABASE_URL, poolSize: settings.DATABASE_POOL_SIZE, log });
    this.#notifications = new Notifications(settings.DATABASE_URL, log);
    const books = new PostgresBooksStore(this.#dataSource);
    const wake = () => this.#dispatcher.wake();
    this.#broker = new BrokerSide(
      {
        url: settings.AMQP_URL,
        heartbeatS: settings.HEARTBEAT_S,
        workQueueType: settings.WORK_QUEUE_TYPE,
        managerId,
        log,
      },
      {
        ledger: new Ledger(books, managerId),
        errors: { record: (errors) => recordErrors(this.#dataSource, errors) },
        committed: wake,
      },
    );
    this.#dispatcher = new Dispatcher(new PostgresCommandStore(this.#dataSource), this.#broker.sender, log);
    this.#notifications.of("unacked_commands").onWake(wake);
    const isCaughtUp = () => this.#broker.catchUp.isCaughtUp;
    this.#prober = new Prober({ store: new PostgresSilenceStore(this.#dataSource), isCaughtUp, probed: wake, log });
    this.#changes = new ChangeHub(new PostgresChangeLog(this.#dataSource), this.#notifications.of("unacked_changes"), log);
    const reads = postgresReads(this.#dataSource, (pools) => this.#broker.queueDepths(pools));
    const types = new TypeCheck(new PostgresTypeDirectory(this.#dataSource));
    const isReady = () => this.#broker.catchUp.hasOnceCaughtUp;
    this.#api = {
      lifecycle: new ObserverLifecycle({ store: books, reads, types, isReady, committed: wake }),
      reads,
      changes: this.#changes,
      readiness: () => this.#readiness(),
    };
  }

  /** Answers HTTP from now on; readiness says what is still missing. Rejects when the port cannot be had. */
  async listen(): Promise<void> {
    const { settings, version, log } = this.#parts;
    this.#http = await startHttpServer({
      host: settings.HOST,
      port: settings.PORT,
      api: this.#api,
      log,
      version,
      describeError: describeDatabaseError,
    });
    log.info({ event: "listening", url: this.#http.url }, "listening");
  }

  /** Connects to PostgreSQL and brings the schema up to date. @returns false while the database is away */
  async openBooks(): Promise<boolean> {
    try {
      if (!this.#dataSource.isInitialized) await this.#dataSource.initialize();
      const applied = await migrate(this.#dataSource);
      this.#parts.log.info({ event: "books-open", applied }, "the schema is up to date");
      return true;
    } catch (error) {
      if (!describeDatabaseError(error).unavailable) throw error;
      this.#parts.log.warn({ err: error }, "PostgreSQL cannot be reached; trying again");
      return false;
    }
  }

  start(): void {
    this.#notifications.start();
    this.#broker.start();
    this.#dispatcher.start();
    this.#prober.start();
  }

  async close(): Promise<void> {
    this.#prober.stop();
    await Promise.all([this.#changes.close(), this.#http?.close()]);
    await this.#dispatcher.stop();
    await this.#broker.close();
    await this.#notifications.close();
    if (this.#dataSource.isInitialized) await this.#dataSource.destroy();
  }

  async #readiness(): Promise<Readiness> {
    const checks = { database: await checkDatabase(this.#dataSource), ...this.#broker.checks() };
    return { ready: Object.values(checks).every((check) => check.ok), checks };
  }
}
