import type { Readiness } from "@unacked/contracts";
import { tlsFilesOf } from "@unacked/settings";
import type { Tracing } from "@unacked/tracing";
import type { AmqpSettings } from "./adapters/amqp/amqp-settings.ts";
import { type HttpServer, startHttpServer } from "./adapters/http/server/http-server.ts";
import { ManagerMetrics } from "./adapters/metrics/manager-metrics.ts";
import type { Channel } from "./adapters/postgres/connection/notifications.ts";
import { DatabaseSide } from "./adapters/postgres/database-side.ts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import { BalanceSide } from "./balance-side.ts";
import { BulkWorkSide } from "./bulk-work-side.ts";
import { FlowSide } from "./flow-side.ts";
import { httpAccessOf, sayWhoMayComeIn } from "./http-access.ts";
import { ObserverSide } from "./observer-side.ts";
import { LostActions } from "./operations/access/lost-actions.ts";
import type { ErrorBook } from "./operations/books/books-store.ts";
import { CountedErrors } from "./operations/books/counted-errors.ts";
import { ChangeHub } from "./operations/changes/change-hub.ts";
import type { Wakeups } from "./operations/changes/change-log.ts";
import { FeatureGate } from "./operations/features/feature-gate.ts";
import type { Log } from "./operations/log.ts";
import { LogDesk } from "./operations/logs/log-desk.ts";
import type { ManagerApi } from "./operations/manager-api.ts";
import type { ManagerReads } from "./operations/manager-reads.ts";
import { askInTime } from "./operations/pools/ask-in-time.ts";
import type { QueuesNow } from "./operations/pools/pool-queues.ts";
import { ServiceDesk } from "./operations/services/service-desk.ts";
import { ThinnedLog } from "./operations/thinned-log.ts";
import { RequestSide } from "./request-side.ts";
import { ScheduleSide } from "./schedule-side.ts";
import type { ManagerSettings } from "./settings.ts";
import { TaskSide } from "./task-side.ts";
import { TimerSide } from "./timer-side.ts";

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

/** What the sides have in common. */
interface Shared {
  amqp: AmqpSettings;
  stores: Stores;
  wakeups: (channel: Channel) => Wakeups;
  errors: ErrorBook;
  reads: ManagerReads;
  /** The books have caught up with what services say. */
  isReady(): boolean;
  /** Commands may have been written. */
  committed(): void;
  /** Of what is tried again and again. Access and metrics use the plain one: they tell once what has changed. */
  log: Log;
}

/**
 * Wires the operations to their adapters, and starts and ends them in order. It decides nothing. What a part calls of one that is made
 * after it is asked for when it is called.
 */
export class ObserverManager {
  readonly #parts: ManagerParts;
  readonly #database: DatabaseSide;
  readonly #lostActions: LostActions;
  readonly #features: FeatureGate;
  readonly #changes: ChangeHub;
  readonly #metrics: ManagerMetrics;
  readonly #logs: LogDesk;
  readonly #observers: ObserverSide;
  readonly #tasks: TaskSide;
  readonly #flows: FlowSide;
  readonly #requests: RequestSide;
  readonly #timers: TimerSide;
  readonly #schedules: ScheduleSide;
  readonly #balance: BalanceSide;
  readonly #bulkWork: BulkWorkSide;
  readonly #api: ManagerApi;
  readonly #access: ReturnType<typeof httpAccessOf>;
  #http: HttpServer | undefined;

  constructor(parts: ManagerParts) {
    this.#parts = parts;
    const log = new ThinnedLog(parts.log);
    this.#metrics = this.#newMetrics();
    this.#access = httpAccessOf(parts.settings, parts.log);
    this.#database = newDatabase(parts.settings, log);
    const shared = this.#shared(log);
    this.#features = this.#newFeatures(shared);
    this.#observers = this.#newObservers(shared);
    this.#lostActions = this.#newLostActions(shared);
    this.#changes = new ChangeHub(shared.stores.changes, shared.wakeups("unacked_changes"), log);
    this.#logs = new LogDesk({ places: shared.stores.logPlaces, reader: this.#observers.logs });
    this.#tasks = this.#newTasks(shared);
    this.#flows = this.#newFlows(shared, this.#tasks);
    this.#requests = this.#newRequests(shared);
    this.#timers = this.#newTimers(shared);
    this.#schedules = this.#newSchedules(shared);
    this.#balance = this.#newBalance(shared);
    this.#bulkWork = this.#newBulkWork(shared);
    this.#api = this.#newApi(shared);
    this.#heedFailovers();
  }

  #shared(log: Log): Shared {
    const { stores } = this.#database;
    return {
      amqp: amqpSettingsOf({ ...this.#parts, log }),
      stores,
      wakeups: (channel) => this.#database.notifications(channel),
      errors: new CountedErrors(stores.errors, this.#metrics.tally),
      reads: this.#database.reads(askInTime((asked) => this.#queues(asked))),
      isReady: () => this.#observers.isReady,
      committed: () => this.#observers.wake(),
      log,
    };
  }

  #newMetrics(): ManagerMetrics {
    const { settings, version, log } = this.#parts;
    return new ManagerMetrics({
      version,
      stats: () => this.#api.reads.stats(),
      commands: () => this.#database.stores.commandCounts(),
      tasks: () => this.#database.stores.tasks.counts(),
      timers: () => this.#database.stores.timers.counts(),
      flows: () => this.#database.stores.flows.counts(),
      schedules: () => this.#database.stores.schedules.counts(),
      taskFigures: () => this.#tasks.figureDesk.taskFiguresUndrawn(),
      repairs: () => this.#observers.repairs,
      failingForMs: () => ({ ...this.#observers.failingForMs, tasks: this.#tasks.failingForMs }),
      requestUsers: Object.keys(settings.REQUEST_USERS ?? {}),
      requestsWaiting: () => {
        const ready = this.#observers.requestsReady;
        return ready === undefined ? undefined : ready + this.#requests.held;
      },
      connections: () => this.#observers.connections,
      streams: () => this.#changes.subscriberCount,
      log,
    });
  }

  #newFeatures({ stores, log }: Shared): FeatureGate {
    const { managerId, version } = this.#parts;
    const stateConsumers = () => this.#observers.stateConsumers;
    return new FeatureGate({ store: stores.features, stateConsumers, managerId, version, log });
  }

  #newObservers(shared: Shared): ObserverSide {
    const { settings, tracing } = this.#parts;
    return new ObserverSide({
      ...shared,
      tracing,
      features: this.#features,
      tally: this.#metrics.tally,
      retentionMs: settings.RETENTION_DAYS * MS_PER_DAY,
    });
  }

  #newLostActions({ errors, log }: Shared): LostActions {
    const { managerId } = this.#parts;
    return new LostActions({ missing: (actions) => this.#database.missingActions(actions), errors, managerId, log });
  }

  #newTasks(shared: Shared): TaskSide {
    const { settings } = this.#parts;
    return new TaskSide({
      ...shared,
      tally: this.#metrics.taskTally,
      retentionMs: settings.TASK_RETENTION_DAYS * MS_PER_DAY,
      creationPools: settings.TASK_CREATION_POOLS ?? [],
      isCaughtUp: () => this.#observers.isCaughtUp,
      flowEnds: () => this.#flows.wake(),
      ended: () => this.#schedules.tasksEnded(),
    });
  }

  #newFlows(shared: Shared, tasks: TaskSide): FlowSide {
    return new FlowSide({
      ...shared,
      tasks,
      retentionMs: this.#parts.settings.TASK_RETENTION_DAYS * MS_PER_DAY,
      mayUse: (pools) => this.#features.allKnow("flows", pools),
    });
  }

  #newRequests(shared: Shared): RequestSide {
    return new RequestSide({
      ...shared,
      users: this.#parts.settings.REQUEST_USERS,
      tally: this.#metrics.requestTally,
      wake: () => this.#tasks.wake(),
      wakeTimers: () => this.#timers.wake(),
    });
  }

  #newTimers(shared: Shared): TimerSide {
    return new TimerSide({
      ...shared,
      tally: this.#metrics.timerTally,
      retentionMs: this.#parts.settings.TIMER_RETENTION_DAYS * MS_PER_DAY,
    });
  }

  #newSchedules(shared: Shared): ScheduleSide {
    return new ScheduleSide({
      ...shared,
      tally: this.#metrics.scheduleTally,
      wakeTasks: () => this.#tasks.wake(),
      cancelled: (over, refuse) => this.#tasks.cancelled(over, refuse),
      mayWant: (wanted) => shared.isReady() && (wanted === "running" || this.#features.mayGoOnWith("pause")),
    });
  }

  #newBalance(shared: Shared): BalanceSide {
    return new BalanceSide({
      ...shared,
      isAuto: this.#parts.settings.REBALANCE === "auto",
      mayMove: () => this.#features.mayGoOnWith("balance"),
    });
  }

  #newBulkWork(shared: Shared): BulkWorkSide {
    return new BulkWorkSide({
      ...shared,
      whyNot: (act) => this.#observers.lifecycle.whyNot(act),
      retentionMs: this.#parts.settings.RETENTION_DAYS * MS_PER_DAY,
    });
  }

  #newApi({ stores, reads, isReady, committed }: Shared): ManagerApi {
    return {
      tasks: this.#tasks.desk,
      taskTypes: this.#tasks.typeDesk,
      taskFailures: this.#tasks.failureDesk,
      taskFigures: this.#tasks.figureDesk,
      taskTakes: this.#tasks.takeDesk,
      flows: this.#flows.desk,
      timers: this.#timers.desk,
      schedules: this.#schedules.desk,
      bulkWork: this.#bulkWork.desk,
      errors: this.#observers.errorDesk,
      lifecycle: this.#observers.lifecycle,
      checkpoints: this.#observers.checkpointDesk,
      services: new ServiceDesk({
        store: stores.services,
        isReady,
        mayCordon: () => this.#features.mayGoOnWith("balance"),
        mayReload: () => this.#features.mayGoOnWith("reload"),
        committed,
      }),
      balance: this.#balance.desk,
      logs: this.#logs,
      reads,
      changes: this.#changes,
      readiness: () => this.#readiness(),
    };
  }

  #heedFailovers(): void {
    this.#database.onFailover({
      committed: (done) => this.#lostActions.accepted(done),
      moved: () => {
        this.#lostActions.databaseMoved();
        this.#changes.startOver();
      },
    });
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
      describeError: (error) => this.#database.describeError(error),
      access: this.#access,
      basePath: settings.BASE_PATH,
      tracing,
    });
    sayWhoMayComeIn(this.#access, settings, log);
    log.info({ event: "listening", url: this.#http.url }, "listening");
  }

  /** @returns 0; or in how many ms to try again */
  openBooks(): Promise<number> {
    return this.#database.open();
  }

  /** Those of the pools, and our own; null while the broker cannot be asked. */
  async #queues(pools: string[]): Promise<QueuesNow | null> {
    const [now, ofTasks] = await Promise.all([this.#observers.queues(pools), this.#tasks.stateQueue()]);
    return now && ofTasks ? { ...now, depths: [...now.depths, ofTasks] } : now;
  }

  start(): void {
    this.#observers.start();
    this.#lostActions.start();
    this.#features.start();
    this.#tasks.start();
    this.#flows.start();
    this.#requests.start();
    this.#timers.start();
    this.#schedules.start();
    this.#balance.start();
    this.#bulkWork.start();
  }

  async close(): Promise<void> {
    const rounds = this.#observers.endRounds();
    this.#logs.close();
    this.#tasks.endWaits();
    this.#flows.endWaits();
    await Promise.all([this.#changes.close(), this.#http?.close(), this.#requests.close()]);
    this.#access.callers.close();
    await Promise.all([
      rounds,
      this.#observers.close(),
      this.#tasks.close(),
      this.#flows.close(),
      this.#timers.close(),
      this.#schedules.close(),
      this.#balance.close(),
      this.#bulkWork.close(),
    ]);
    await this.#lostActions.stop();
    await this.#features.stop();
    await this.#database.close();
  }

  async #readiness(): Promise<Readiness> {
    const checks = { database: await this.#database.check(), ...this.#observers.checks() };
    return { ready: Object.values(checks).every((check) => check.ok), checks };
  }
}

function newDatabase(settings: ManagerSettings, log: Log): DatabaseSide {
  const { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: poolSize } = settings;
  return new DatabaseSide({ databaseUrl, tls: tlsFilesOf("DATABASE", settings), poolSize, log });
}

/** Each side connects by itself. */
function amqpSettingsOf({ settings, managerId, log }: ManagerParts): AmqpSettings {
  const { AMQP_URL: url, HEARTBEAT_S: heartbeatS, WORK_QUEUE_TYPE: queueType } = settings;
  return { broker: { url, tls: tlsFilesOf("AMQP", settings), heartbeatS, log }, queueType, managerId };
}
