import { tlsFilesOf } from "@unacked/settings";
import type { Tracing } from "@unacked/tracing";
import type { AmqpSettings } from "./adapters/amqp/amqp-settings.ts";
import { ManagerMetrics } from "./adapters/metrics/manager-metrics.ts";
import type { Channel } from "./adapters/postgres/connection/notifications.ts";
import { DatabaseSide } from "./adapters/postgres/database-side.ts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import { BalanceSide } from "./balance-side.ts";
import { BulkWorkSide } from "./bulk-work-side.ts";
import { FlowSide } from "./flow-side.ts";
import { ObserverSide } from "./observer-side.ts";
import { LostActions } from "./operations/access/lost-actions.ts";
import type { ErrorBook } from "./operations/books/books-store.ts";
import { CountedErrors } from "./operations/books/counted-errors.ts";
import { ChangeHub } from "./operations/changes/change-hub.ts";
import type { Wakeups } from "./operations/changes/change-log.ts";
import { FeatureGate } from "./operations/features/feature-gate.ts";
import type { Log } from "./operations/log.ts";
import { LogDesk } from "./operations/logs/log-desk.ts";
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
 * What a manager is made of: each side is wired to its adapters and to the others. It decides nothing. What a part calls of one that is made
 * after it is asked for when it is called.
 */
export class ManagerSides {
  readonly #parts: ManagerParts;
  readonly database: DatabaseSide;
  readonly metrics: ManagerMetrics;
  readonly features: FeatureGate;
  readonly observers: ObserverSide;
  readonly lostActions: LostActions;
  readonly changes: ChangeHub;
  readonly logs: LogDesk;
  readonly tasks: TaskSide;
  readonly flows: FlowSide;
  readonly requests: RequestSide;
  readonly timers: TimerSide;
  readonly schedules: ScheduleSide;
  readonly balance: BalanceSide;
  readonly bulkWork: BulkWorkSide;
  readonly services: ServiceDesk;
  readonly reads: ManagerReads;

  constructor(parts: ManagerParts) {
    this.#parts = parts;
    const log = new ThinnedLog(parts.log);
    this.metrics = this.#newMetrics();
    this.database = newDatabase(parts.settings, log);
    const shared = this.#shared(log);
    this.reads = shared.reads;
    this.features = this.#newFeatures(shared);
    this.observers = this.#newObservers(shared);
    this.lostActions = this.#newLostActions(shared);
    this.changes = new ChangeHub(shared.stores.changes, shared.wakeups("unacked_changes"), log);
    this.logs = new LogDesk({ places: shared.stores.logPlaces, reader: this.observers.logs });
    this.tasks = this.#newTasks(shared);
    this.flows = this.#newFlows(shared, this.tasks);
    this.requests = this.#newRequests(shared);
    this.timers = this.#newTimers(shared);
    this.schedules = this.#newSchedules(shared);
    this.balance = this.#newBalance(shared);
    this.bulkWork = this.#newBulkWork(shared);
    this.services = this.#newServiceDesk(shared);
    this.#heedFailovers();
  }

  #shared(log: Log): Shared {
    const { stores } = this.database;
    return {
      amqp: amqpSettingsOf({ ...this.#parts, log }),
      stores,
      wakeups: (channel) => this.database.notifications(channel),
      errors: new CountedErrors(stores.errors, this.metrics.tally),
      reads: this.database.reads(askInTime((asked) => this.#queues(asked))),
      isReady: () => this.observers.isReady,
      committed: () => this.observers.wake(),
      log,
    };
  }

  #newMetrics(): ManagerMetrics {
    const { settings, version, log } = this.#parts;
    return new ManagerMetrics({
      version,
      stats: () => this.reads.stats(),
      commands: () => this.database.stores.commandCounts(),
      tasks: () => this.database.stores.tasks.counts(),
      timers: () => this.database.stores.timers.counts(),
      flows: () => this.database.stores.flows.counts(),
      schedules: () => this.database.stores.schedules.counts(),
      taskFigures: () => this.tasks.figureDesk.taskFiguresUndrawn(),
      repairs: () => this.observers.repairs,
      failingForMs: () => ({ ...this.observers.failingForMs, tasks: this.tasks.failingForMs }),
      requestUsers: Object.keys(settings.REQUEST_USERS ?? {}),
      requestsWaiting: () => {
        const ready = this.observers.requestsReady;
        return ready === undefined ? undefined : ready + this.requests.held;
      },
      connections: () => this.observers.connections,
      streams: () => this.changes.subscriberCount,
      log,
    });
  }

  #newFeatures({ stores, log }: Shared): FeatureGate {
    const { managerId, version } = this.#parts;
    const stateConsumers = () => this.observers.stateConsumers;
    return new FeatureGate({ store: stores.features, stateConsumers, managerId, version, log });
  }

  #newObservers(shared: Shared): ObserverSide {
    const { settings, tracing } = this.#parts;
    return new ObserverSide({
      ...shared,
      tracing,
      features: this.features,
      tally: this.metrics.tally,
      retentionMs: settings.RETENTION_DAYS * MS_PER_DAY,
    });
  }

  #newLostActions({ errors, log }: Shared): LostActions {
    const { managerId } = this.#parts;
    return new LostActions({ missing: (actions) => this.database.missingActions(actions), errors, managerId, log });
  }

  #newTasks(shared: Shared): TaskSide {
    const { settings } = this.#parts;
    return new TaskSide({
      ...shared,
      tally: this.metrics.taskTally,
      retentionMs: settings.TASK_RETENTION_DAYS * MS_PER_DAY,
      creationPools: settings.TASK_CREATION_POOLS ?? [],
      isCaughtUp: () => this.observers.isCaughtUp,
      flowEnds: () => this.flows.wake(),
      ended: () => this.schedules.tasksEnded(),
    });
  }

  #newFlows(shared: Shared, tasks: TaskSide): FlowSide {
    return new FlowSide({
      ...shared,
      tasks,
      retentionMs: this.#parts.settings.TASK_RETENTION_DAYS * MS_PER_DAY,
      mayUse: (pools) => this.features.allKnow("flows", pools),
    });
  }

  #newRequests(shared: Shared): RequestSide {
    return new RequestSide({
      ...shared,
      users: this.#parts.settings.REQUEST_USERS,
      tally: this.metrics.requestTally,
      wake: () => this.tasks.wake(),
      wakeTimers: () => this.timers.wake(),
    });
  }

  #newTimers(shared: Shared): TimerSide {
    return new TimerSide({
      ...shared,
      tally: this.metrics.timerTally,
      retentionMs: this.#parts.settings.TIMER_RETENTION_DAYS * MS_PER_DAY,
    });
  }

  #newSchedules(shared: Shared): ScheduleSide {
    return new ScheduleSide({
      ...shared,
      tally: this.metrics.scheduleTally,
      wakeTasks: () => this.tasks.wake(),
      cancelled: (over, refuse) => this.tasks.cancelled(over, refuse),
      mayWant: (wanted) => shared.isReady() && (wanted === "running" || this.features.mayGoOnWith("pause")),
    });
  }

  #newBalance(shared: Shared): BalanceSide {
    return new BalanceSide({
      ...shared,
      isAuto: this.#parts.settings.REBALANCE === "auto",
      mayMove: () => this.features.mayGoOnWith("balance"),
    });
  }

  #newBulkWork(shared: Shared): BulkWorkSide {
    return new BulkWorkSide({
      ...shared,
      whyNot: (act) => this.observers.lifecycle.whyNot(act),
      retentionMs: this.#parts.settings.RETENTION_DAYS * MS_PER_DAY,
    });
  }

  #newServiceDesk({ stores, isReady, committed }: Shared): ServiceDesk {
    return new ServiceDesk({
      store: stores.services,
      isReady,
      mayCordon: () => this.features.mayGoOnWith("balance"),
      mayReload: () => this.features.mayGoOnWith("reload"),
      committed,
    });
  }

  #heedFailovers(): void {
    this.database.onFailover({
      committed: (done) => this.lostActions.accepted(done),
      moved: () => {
        this.lostActions.databaseMoved();
        this.changes.startOver();
      },
    });
  }

  /** Those of the pools, and our own; null while the broker cannot be asked. */
  async #queues(pools: string[]): Promise<QueuesNow | null> {
    const [now, ofTasks] = await Promise.all([this.observers.queues(pools), this.tasks.stateQueue()]);
    return now && ofTasks ? { ...now, depths: [...now.depths, ofTasks] } : now;
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
