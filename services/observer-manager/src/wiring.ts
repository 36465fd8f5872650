import type { Readiness } from "@unacked/contracts";
import { tlsFilesOf } from "@unacked/settings";
import type { Tracing } from "@unacked/tracing";
import { BrokerSide } from "./adapters/amqp/broker-side.ts";
import { type HttpServer, startHttpServer } from "./adapters/http/http-server.ts";
import { ManagerMetrics } from "./adapters/metrics/manager-metrics.ts";
import { describeDatabaseError } from "./adapters/postgres/database-error.ts";
import { DatabaseSide } from "./adapters/postgres/database-side.ts";
import { ChangeHub } from "./flows/change-hub.ts";
import { Dispatcher } from "./flows/dispatcher.ts";
import { ErrorDesk } from "./flows/error-desk.ts";
import { FreshStarts } from "./flows/fresh-starts.ts";
import { Ledger } from "./flows/ledger.ts";
import { ObserverLifecycle } from "./flows/lifecycle.ts";
import type { Log } from "./flows/log.ts";
import { LogDesk } from "./flows/log-desk.ts";
import type { ManagerApi } from "./flows/manager-api.ts";
import { Prober } from "./flows/prober.ts";
import { Readoption } from "./flows/readoption.ts";
import { Reconciler } from "./flows/reconciler.ts";
import { Retention } from "./flows/retention.ts";
import { ServiceDesk } from "./flows/service-desk.ts";
import { TypeCheck } from "./flows/type-check.ts";
import { httpAccessOf, sayWhoMayComeIn } from "./http-access.ts";
import type { ManagerSettings } from "./settings.ts";

const MS_PER_DAY = 86_400_000;

export interface ManagerParts {
  settings: ManagerSettings;
  managerId: string;
  version: string;
  /** With the status page as it was built. */
  pageFolder: string;
  log: Log;
  /** Undefined: nothing is traced. */
  tracing: Tracing | undefined;
}

/** Wires the flows to their adapters, and starts and ends them in order. It decides nothing. */
export class ObserverManager {
  readonly #parts: ManagerParts;
  readonly #database: DatabaseSide;
  readonly #broker: BrokerSide;
  readonly #dispatcher: Dispatcher;
  readonly #prober: Prober;
  readonly #reconciler: Reconciler;
  readonly #retention: Retention;
  readonly #changes: ChangeHub;
  readonly #metrics: ManagerMetrics;
  readonly #logs: LogDesk;
  readonly #api: ManagerApi;
  readonly #access: ReturnType<typeof httpAccessOf>;
  #http: HttpServer | undefined;

  constructor(parts: ManagerParts) {
    const { settings, managerId, version, log, tracing } = parts;
    this.#parts = parts;
    this.#metrics = new ManagerMetrics({
      version,
      stats: () => this.#api.reads.stats(),
      commands: () => this.#database.commandCounts(),
      repairs: () => this.#reconciler.counts,
      connections: () => this.#broker.connections,
      streams: () => this.#changes.subscriberCount,
    });
    const { tally } = this.#metrics;
    this.#access = httpAccessOf(settings, log);
    const { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: poolSize } = settings;
    const freshStarts = new FreshStarts();
    this.#database = new DatabaseSide({ databaseUrl, tls: tlsFilesOf("DATABASE", settings), poolSize, freshStarts, log });
    const { books, commands, errors, silence, reconciliation, retention, types, changes, services, logPlaces } =
      this.#database;
    const wake = () => this.#dispatcher.wake();
    const { AMQP_URL: url, HEARTBEAT_S: heartbeatS, WORK_QUEUE_TYPE: queueType } = settings;
    const retentionMs = settings.RETENTION_DAYS * MS_PER_DAY;
    const readoption = new Readoption({ store: books, errors, retentionMs, committed: wake, tally, log });
    this.#broker = new BrokerSide(
      { broker: { url, tls: tlsFilesOf("AMQP", settings), heartbeatS, log }, queueType, managerId, tracing },
      { ledger: new Ledger(books, managerId, tally), errors: readoption, committed: wake },
    );
    this.#dispatcher = new Dispatcher(commands, this.#broker.sender, log, tally);
    this.#database.notifications("unacked_commands").onWake(wake);
    const isCaughtUp = () => this.#broker.catchUp.isCaughtUp;
    this.#prober = new Prober({ store: silence, isCaughtUp, probed: wake, log });
    this.#reconciler = new Reconciler({
      store: reconciliation,
      books,
      queues: this.#broker,
      isCaughtUp,
      committed: wake,
      log,
    });
    this.#retention = new Retention({ store: retention, retentionMs, log });
    this.#changes = new ChangeHub(changes, this.#database.notifications("unacked_changes"), log);
    this.#logs = new LogDesk({ places: logPlaces, reader: this.#broker.logs });
    const reads = this.#database.reads((pools) => this.#broker.queueDepths(pools));
    const isReady = () => this.#broker.catchUp.hasOnceCaughtUp;
    this.#api = {
      errors: new ErrorDesk({ store: books, isReady, committed: wake }),
      lifecycle: new ObserverLifecycle({
        store: books,
        types: new TypeCheck(types),
        isReady,
        committed: wake,
        freshStarts,
        log,
      }),
      services: new ServiceDesk({ store: services, isReady, committed: wake }),
      logs: this.#logs,
      reads,
      changes: this.#changes,
      readiness: () => this.#readiness(),
    };
  }

  /** Answers HTTP from now on; readiness says what is still missing. Rejects when the port cannot be had. */
  async listen(): Promise<void> {
    const { settings, version, pageFolder, log, tracing } = this.#parts;
    const { HOST: host, PORT: port } = settings;
    this.#http = await startHttpServer({
      metrics: this.#metrics,
      host,
      port,
      api: this.#api,
      log,
      version,
      pageFolder,
      describeError: describeDatabaseError,
      access: this.#access,
      tracing,
    });
    sayWhoMayComeIn(this.#access, settings, log);
    log.info({ event: "listening", url: this.#http.url }, "listening");
  }

  /** @returns false while the database is away */
  openBooks(): Promise<boolean> {
    return this.#database.open();
  }

  start(): void {
    this.#broker.start();
    this.#dispatcher.start();
    this.#prober.start();
    this.#reconciler.start();
    this.#retention.start();
  }

  async close(): Promise<void> {
    this.#prober.stop();
    this.#reconciler.stop();
    this.#retention.stop();
    this.#logs.close();
    await Promise.all([this.#changes.close(), this.#http?.close()]);
    this.#access.callers.close();
    await this.#dispatcher.stop();
    await this.#broker.close();
    await this.#database.close();
  }

  async #readiness(): Promise<Readiness> {
    const checks = { database: await this.#database.check(), ...this.#broker.checks() };
    return { ready: Object.values(checks).every((check) => check.ok), checks };
  }
}
