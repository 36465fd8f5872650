import type { Readiness, WorkAct } from "@unacked/contracts";
import { tlsFilesOf } from "@unacked/settings";
import type { Tracing } from "@unacked/tracing";
import type { AmqpSettings } from "./adapters/amqp/amqp-settings.ts";
import { type HttpServer, startHttpServer } from "./adapters/http/server/http-server.ts";
import { ManagerMetrics } from "./adapters/metrics/manager-metrics.ts";
import type { Channel } from "./adapters/postgres/connection/notifications.ts";
import { DatabaseSide } from "./adapters/postgres/database-side.ts";
import { BalanceSide } from "./balance-side.ts";
import { BulkWorkSide } from "./bulk-work-side.ts";
import { FlowSide } from "./flow-side.ts";
import { httpAccessOf, sayWhoMayComeIn } from "./http-access.ts";
import { ObserverSide } from "./observer-side.ts";
import { LostActions } from "./operations/access/lost-actions.ts";
import { CountedErrors } from "./operations/books/counted-errors.ts";
import { ChangeHub } from "./operations/changes/change-hub.ts";
import { FeatureGate } from "./operations/features/feature-gate.ts";
import type { Log } from "./operations/log.ts";
import { LogDesk } from "./operations/logs/log-desk.ts";
import type { ManagerApi } from "./operations/manager-api.ts";
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

/** Wires the operations to their adapters, and starts and ends them in order. It decides nothing. */
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
    const { settings, managerId, version, tracing } = parts;
    this.#parts = parts;
    /** Of what is tried again and again. Access and metrics use the plain one: they tell once what has changed. */
    const log = new ThinnedLog(parts.log);
    this.#metrics = new ManagerMetrics({
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
      log: parts.log,
    });
    const { tally } = this.#metrics;
    this.#access = httpAccessOf(settings, parts.log);
    const { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: poolSize } = settings;
    const database = new DatabaseSide({ databaseUrl, tls: tlsFilesOf("DATABASE", settings), poolSize, log });
    this.#database = database;
    const { stores } = database;
    const wakeups = (channel: Channel) => database.notifications(channel);
    const putAside = new CountedErrors(stores.errors, tally);
    const amqp = amqpSettingsOf({ ...parts, log });
    const retentionMs = settings.RETENTION_DAYS * MS_PER_DAY;
    const taskRetentionMs = settings.TASK_RETENTION_DAYS * MS_PER_DAY;
    this.#features = new FeatureGate({
      store: stores.features,
      stateConsumers: () => this.#observers.stateConsumers,
      managerId,
      version,
      log,
    });
    const reads = database.reads(askInTime((asked) => this.#queues(asked)));
    this.#observers = new ObserverSide({
      ...amqp,
      tracing,
      stores,
      wakeups,
      features: this.#features,
      reads,
      errors: putAside,
      tally,
      retentionMs,
      log,
    });
    const committed = () => this.#observers.wake();
    const isReady = () => this.#observers.isReady;
    this.#lostActions = new LostActions({
      missing: (actions) => database.missingActions(actions),
      errors: putAside,
      managerId,
      log,
    });
    database.onFailover({
      committed: (done) => this.#lostActions.accepted(done),
      moved: () => {
        this.#lostActions.databaseMoved();
        this.#changes.startOver();
      },
    });
    this.#changes = new ChangeHub(stores.changes, wakeups("unacked_changes"), log);
    this.#logs = new LogDesk({ places: stores.logPlaces, reader: this.#observers.logs });
    this.#tasks = new TaskSide({
      ...amqp,
      stores,
      wakeups,
      errors: putAside,
      tally: this.#metrics.taskTally,
      retentionMs: taskRetentionMs,
      creationPools: settings.TASK_CREATION_POOLS ?? [],
      isCaughtUp: () => this.#observers.isCaughtUp,
      flowEnds: () => this.#flows.wake(),
      ended: () => this.#schedules.tasksEnded(),
      log,
    });
    this.#flows = new FlowSide({
      stores,
      tasks: this.#tasks,
      retentionMs: taskRetentionMs,
      mayUse: (pools) => this.#features.allKnow("flows", pools),
      log,
    });
    this.#requests = new RequestSide({
      ...amqp,
      users: settings.REQUEST_USERS,
      stores,
      errors: putAside,
      tally: this.#metrics.requestTally,
      wake: () => this.#tasks.wake(),
      wakeTimers: () => this.#timers.wake(),
      log,
    });
    this.#timers = new TimerSide({
      ...amqp,
      stores,
      wakeups,
      tally: this.#metrics.timerTally,
      retentionMs: settings.TIMER_RETENTION_DAYS * MS_PER_DAY,
      log,
    });
    this.#schedules = new ScheduleSide({
      stores,
      tally: this.#metrics.scheduleTally,
      wakeTasks: () => this.#tasks.wake(),
      cancelled: (over, refuse) => this.#tasks.cancelled(over, refuse),
      mayWant: (wanted) => isReady() && (wanted === "running" || this.#features.mayGoOnWith("pause")),
      committed,
      log,
    });
    this.#balance = new BalanceSide({
      stores,
      isAuto: settings.REBALANCE === "auto",
      isReady,
      mayMove: () => this.#features.mayGoOnWith("balance"),
      committed,
      log,
    });
    const { lifecycle, checkpointDesk: checkpoints, errorDesk: errors } = this.#observers;
    const whyNot = (act: WorkAct) => lifecycle.whyNot(act);
    this.#bulkWork = new BulkWorkSide({ stores, whyNot, committed, retentionMs, log });
    this.#api = {
      tasks: this.#tasks.desk,
      taskTypes: this.#tasks.typeDesk,
      taskFailures: this.#tasks.failureDesk,
      taskFigures: this.#tasks.figureDesk,
      taskTakes: this.#tasks.takeDesk,
      flows: this.#flows.desk,
      timers: this.#timers.desk,
      schedules: this.#schedules.desk,
      bulkWork: this.#bulkWork.desk,
      errors,
      lifecycle,
      checkpoints,
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

/** Each side connects by itself. */
function amqpSettingsOf({ settings, managerId, log }: ManagerParts): AmqpSettings {
  const { AMQP_URL: url, HEARTBEAT_S: heartbeatS, WORK_QUEUE_TYPE: queueType } = settings;
  return { broker: { url, tls: tlsFilesOf("AMQP", settings), heartbeatS, log }, queueType, managerId };
}
