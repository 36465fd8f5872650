import type { Readiness, WorkAct } from "@unacked/contracts";
import { tlsFilesOf } from "@unacked/settings";
import type { Tracing } from "@unacked/tracing";
import { BrokerSide } from "./adapters/amqp/broker-side.ts";
import { type HttpServer, startHttpServer } from "./adapters/http/server/http-server.ts";
import { ManagerMetrics } from "./adapters/metrics/manager-metrics.ts";
import { DatabaseSide } from "./adapters/postgres/database-side.ts";
import { BalanceSide } from "./balance-side.ts";
import { FlowSide } from "./flow-side.ts";
import { httpAccessOf, sayWhoMayComeIn } from "./http-access.ts";
import { LostActions } from "./operations/access/lost-actions.ts";
import { LateEvents } from "./operations/books/late-events.ts";
import { Ledger } from "./operations/books/ledger.ts";
import { Retention } from "./operations/books/retention.ts";
import { ChangeHub } from "./operations/changes/change-hub.ts";
import { Dispatcher } from "./operations/commands/dispatcher.ts";
import { ErrorDesk } from "./operations/errors/error-desk.ts";
import type { Log } from "./operations/log.ts";
import { LogDesk } from "./operations/logs/log-desk.ts";
import type { ManagerApi } from "./operations/manager-api.ts";
import { AbsenceProver } from "./operations/observers/absence-prover.ts";
import { CheckpointDesk } from "./operations/observers/checkpoint-desk.ts";
import { ObserverLifecycle } from "./operations/observers/observer-lifecycle.ts";
import { Readoption } from "./operations/observers/readoption.ts";
import { Reconciler } from "./operations/observers/reconciler.ts";
import { ScheduledStarts } from "./operations/observers/scheduled-starts.ts";
import { askInTime } from "./operations/pools/ask-in-time.ts";
import { PoolKeeper } from "./operations/pools/pool-keeper.ts";
import type { QueuesNow } from "./operations/pools/pool-queues.ts";
import { Fleet } from "./operations/services/fleet.ts";
import { Prober } from "./operations/services/prober.ts";
import { ServiceDesk } from "./operations/services/service-desk.ts";
import { TypeCheck } from "./operations/types/type-check.ts";
import { RequestSide } from "./request-side.ts";
import { ScheduleSide } from "./schedule-side.ts";
import type { ManagerSettings } from "./settings.ts";
import { TaskSide } from "./task-side.ts";
import { TimeSide } from "./time-side.ts";
import { WorkSide } from "./work-side.ts";

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
  readonly #broker: BrokerSide;
  readonly #dispatcher: Dispatcher;
  readonly #prober: Prober;
  readonly #reconciler: Reconciler;
  readonly #scheduledStarts: ScheduledStarts;
  readonly #poolKeeper: PoolKeeper;
  readonly #retention: Retention;
  readonly #lateEvents: LateEvents;
  readonly #lostActions: LostActions;
  readonly #fleet: Fleet;
  readonly #changes: ChangeHub;
  readonly #metrics: ManagerMetrics;
  readonly #logs: LogDesk;
  readonly #tasks: TaskSide;
  readonly #flows: FlowSide;
  readonly #requests: RequestSide;
  readonly #time: TimeSide;
  readonly #schedules: ScheduleSide;
  readonly #balance: BalanceSide;
  readonly #work: WorkSide;
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
      tasks: () => this.#database.tasks.counts(),
      timers: () => this.#database.timers.counts(),
      flows: () => this.#database.flows.counts(),
      schedules: () => this.#database.schedules.counts(),
      taskFigures: () => this.#tasks.figureDesk.taskFiguresUndrawn(),
      repairs: () => this.#reconciler.counts,
      failingForMs: () => ({ ...this.#broker.failingForMs, tasks: this.#tasks.failingForMs }),
      requestsWaiting: () => {
        const ready = this.#broker.requestsReady;
        return ready === undefined ? undefined : ready + this.#requests.held;
      },
      connections: () => this.#broker.connections,
      streams: () => this.#changes.subscriberCount,
      log,
    });
    const { tally } = this.#metrics;
    this.#access = httpAccessOf(settings, log);
    const { DATABASE_URL: databaseUrl, DATABASE_POOL_SIZE: poolSize } = settings;
    this.#database = new DatabaseSide({ databaseUrl, tls: tlsFilesOf("DATABASE", settings), poolSize, log });
    const { books, commands, errors, silence, reconciliation, pools, retention, types, changes, services, logPlaces } =
      this.#database;
    const wake = () => this.#dispatcher.wake();
    const { AMQP_URL: url, HEARTBEAT_S: heartbeatS, WORK_QUEUE_TYPE: queueType } = settings;
    const retentionMs = settings.RETENTION_DAYS * MS_PER_DAY;
    const typeCheck = new TypeCheck(types, () => this.#fleet.mayGoOnWith("admission"));
    const readoption = new Readoption({ store: books, errors, types: typeCheck, retentionMs, committed: wake, tally, log });
    this.#broker = new BrokerSide(
      { broker: { url, tls: tlsFilesOf("AMQP", settings), heartbeatS, log }, queueType, managerId, tracing },
      {
        ledger: new Ledger(books, managerId, tally),
        errors: readoption,
        markerRead: (markerIds) => this.#database.proofs.stateMarkersRead(markerIds),
        committed: wake,
      },
    );
    this.#dispatcher = new Dispatcher(commands, this.#broker.sender, log, tally);
    this.#database.notifications("unacked_commands").onWake(wake);
    const isCaughtUp = () => this.#broker.catchUp.isCaughtUp;
    this.#prober = new Prober({ store: silence, isCaughtUp, probed: wake, log });
    const { proofs } = this.#database;
    const prover = new AbsenceProver({
      store: proofs,
      markers: this.#broker,
      repair: (...absent) => this.#reconciler.repair(...absent),
      committed: wake,
      log,
    });
    this.#reconciler = new Reconciler({
      store: reconciliation,
      books,
      queues: this.#broker,
      prover,
      mayProve: (pool) => this.#fleet.mayUse("queue-marker", pool),
      mayMark: () => this.#fleet.nextReaderKnows("queue-marker"),
      isCaughtUp,
      committed: wake,
      log,
    });
    this.#poolKeeper = new PoolKeeper({ store: pools, queues: this.#broker.workQueues, isCaughtUp, log });
    this.#retention = new Retention({ store: retention, retentionMs, log });
    this.#lostActions = new LostActions({
      missing: (actions) => this.#database.missingActions(actions),
      errors,
      managerId,
      tally,
      log,
    });
    this.#database.onFailover({
      committed: (done) => this.#lostActions.accepted(done),
      moved: () => {
        this.#lostActions.databaseMoved();
        this.#changes.startOver();
      },
    });
    this.#lateEvents = new LateEvents({ store: this.#database.unapplied, books, committed: wake, log });
    this.#fleet = new Fleet({
      store: this.#database.fleet,
      stateConsumers: () => this.#broker.catchUp.consumers,
      managerId,
      version,
      log,
    });
    this.#changes = new ChangeHub(changes, this.#database.notifications("unacked_changes"), log);
    this.#logs = new LogDesk({ places: logPlaces, reader: this.#broker.logs });
    const reads = this.#database.reads(askInTime((asked) => this.#queues(asked)));
    const isReady = () => this.#broker.catchUp.hasOnceCaughtUp;
    this.#scheduledStarts = new ScheduledStarts({
      store: this.#database.scheduledStarts,
      books,
      isReady,
      committed: wake,
      log,
    });
    this.#tasks = new TaskSide({
      broker: { url, tls: tlsFilesOf("AMQP", settings), heartbeatS, log },
      queueType,
      managerId,
      log,
      isCaughtUp,
      database: this.#database,
      tally: this.#metrics.taskTally,
      retentionMs: settings.TASK_RETENTION_DAYS * MS_PER_DAY,
      creationPools: settings.TASK_CREATION_POOLS ?? [],
      flowEnds: () => this.#flows.wake(),
    });
    this.#flows = new FlowSide({
      database: this.#database,
      tasks: this.#tasks,
      retentionMs: settings.TASK_RETENTION_DAYS * MS_PER_DAY,
      mayUse: (pools) => this.#fleet.allKnow("flows", pools),
      log,
    });
    this.#requests = new RequestSide({
      broker: { url, tls: tlsFilesOf("AMQP", settings), heartbeatS, log },
      queueType,
      managerId,
      users: settings.REQUEST_USERS,
      database: this.#database,
      tally: this.#metrics.requestTally,
      wake: () => this.#tasks.wake(),
      wakeTimers: () => this.#time.wake(),
      log,
    });
    this.#time = new TimeSide({
      broker: { url, tls: tlsFilesOf("AMQP", settings), heartbeatS, log },
      managerId,
      database: this.#database,
      tally: this.#metrics.timerTally,
      retentionMs: settings.TIMER_RETENTION_DAYS * MS_PER_DAY,
      log,
    });
    this.#schedules = new ScheduleSide({
      database: this.#database,
      tally: this.#metrics.scheduleTally,
      wakeTasks: () => this.#tasks.wake(),
      cancelled: (over, refuse) => this.#tasks.cancelled(over, refuse),
      mayWant: (wanted) => isReady() && (wanted === "running" || this.#fleet.mayGoOnWith("pause")),
      committed: wake,
      log,
    });
    this.#balance = new BalanceSide({
      database: this.#database,
      isAuto: settings.REBALANCE === "auto",
      isReady,
      mayMove: () => this.#fleet.mayGoOnWith("balance"),
      committed: wake,
      log,
    });
    const lifecycle = new ObserverLifecycle({
      store: books,
      types: typeCheck,
      isReady,
      mayPause: () => this.#fleet.mayGoOnWith("pause"),
      mayUpdate: () => this.#fleet.mayGoOnWith("update"),
      mayTell: () => this.#fleet.mayGoOnWith("hot-update"),
      maySchedule: () => this.#fleet.mayGoOnWith("scheduled"),
      committed: wake,
      ownStarts: this.#dispatcher,
      log,
    });
    const whyNot = (act: WorkAct) => lifecycle.whyNot(act);
    this.#work = new WorkSide({ database: this.#database, whyNot, committed: wake, retentionMs, log });
    this.#api = {
      tasks: this.#tasks.desk,
      taskTypes: this.#tasks.typeDesk,
      taskFailures: this.#tasks.failureDesk,
      taskFigures: this.#tasks.figureDesk,
      taskTakes: this.#tasks.takeDesk,
      flows: this.#flows.desk,
      timers: this.#time.desk,
      schedules: this.#schedules.desk,
      work: this.#work.desk,
      errors: new ErrorDesk({ store: books, types: typeCheck, isReady, committed: wake }),
      lifecycle,
      checkpoints: new CheckpointDesk({
        store: books,
        types,
        find: (ref) => reads.findObserver(ref),
        read: (id) => reads.readCheckpoint(id),
        isReady,
      }),
      services: new ServiceDesk({
        store: services,
        isReady,
        mayCordon: () => this.#fleet.mayGoOnWith("balance"),
        mayReload: () => this.#fleet.mayGoOnWith("reload"),
        committed: wake,
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

  /** @returns false while the database is away */
  openBooks(): Promise<boolean> {
    return this.#database.open();
  }

  /** Those of the pools, and our own; null while the broker cannot be asked. */
  async #queues(pools: string[]): Promise<QueuesNow | null> {
    const [now, ofTasks] = await Promise.all([this.#broker.queues(pools), this.#tasks.stateQueue()]);
    return now && ofTasks ? { ...now, depths: [...now.depths, ofTasks] } : now;
  }

  start(): void {
    this.#broker.start();
    this.#dispatcher.start();
    this.#prober.start();
    this.#reconciler.start();
    this.#scheduledStarts.start();
    this.#poolKeeper.start();
    this.#retention.start();
    this.#lateEvents.start();
    this.#lostActions.start();
    this.#fleet.start();
    this.#tasks.start();
    this.#flows.start();
    this.#requests.start();
    this.#time.start();
    this.#schedules.start();
    this.#balance.start();
    this.#work.start();
  }

  async close(): Promise<void> {
    // Their rounds under way end while the books, and the broker, are there.
    const loops = [this.#prober, this.#reconciler, this.#poolKeeper, this.#retention, this.#lateEvents].map((loop) =>
      loop.stop(),
    );
    this.#logs.close();
    this.#tasks.endWaits();
    this.#flows.endWaits();
    await Promise.all([this.#changes.close(), this.#http?.close(), this.#requests.close()]);
    this.#access.callers.close();
    // Under an alarm only the publisher's end tells the dispatcher what became of what it is sending.
    await Promise.all([
      ...loops,
      this.#scheduledStarts.stop(),
      this.#dispatcher.stop(),
      this.#broker.close(),
      this.#tasks.close(),
      this.#flows.close(),
      this.#time.close(),
      this.#schedules.close(),
      this.#balance.close(),
      this.#work.close(),
    ]);
    await this.#lostActions.stop();
    await this.#fleet.stop();
    await this.#database.close();
  }

  async #readiness(): Promise<Readiness> {
    const checks = { database: await this.#database.check(), ...this.#broker.checks() };
    return { ready: Object.values(checks).every((check) => check.ok), checks };
  }
}
