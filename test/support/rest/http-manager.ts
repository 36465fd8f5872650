import { join } from "node:path";
import type { TaskId } from "@unacked/contracts";
import { afterAll, beforeEach, onTestFinished } from "vitest";
import { KnownCallers } from "../../../services/observer-manager/src/adapters/access/known-callers.ts";
import type { HttpAccess } from "../../../services/observer-manager/src/adapters/http/server/app.ts";
import {
  type HttpServer,
  type HttpServerSettings,
  startHttpServer,
} from "../../../services/observer-manager/src/adapters/http/server/http-server.ts";
import { PostgresBalanceStore } from "../../../services/observer-manager/src/adapters/postgres/balance/postgres-balance-store.ts";
import { PostgresBooksStore } from "../../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { PostgresBulkWorkStore } from "../../../services/observer-manager/src/adapters/postgres/bulk-work/postgres-bulk-work-store.ts";
import { PostgresChangeLog } from "../../../services/observer-manager/src/adapters/postgres/changes/change-feed.ts";
import { createDataSource } from "../../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { checkDatabase } from "../../../services/observer-manager/src/adapters/postgres/connection/database-check.ts";
import { describeDatabaseError } from "../../../services/observer-manager/src/adapters/postgres/connection/database-error.ts";
import { Notifications } from "../../../services/observer-manager/src/adapters/postgres/connection/notifications.ts";
import { Primary } from "../../../services/observer-manager/src/adapters/postgres/connection/primary.ts";
import { PostgresFlowStore } from "../../../services/observer-manager/src/adapters/postgres/flows/postgres-flow-store.ts";
import { PostgresLogPlaces } from "../../../services/observer-manager/src/adapters/postgres/logs/log-places.ts";
import { postgresReads } from "../../../services/observer-manager/src/adapters/postgres/postgres-reads.ts";
import { PostgresScheduleStore } from "../../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { PostgresServiceStore } from "../../../services/observer-manager/src/adapters/postgres/services/service-store.ts";
import { PostgresTaskQueueStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { PostgresTaskStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { PostgresTaskBulkStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/desk/task-bulk-store.ts";
import { PostgresTaskFailureStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/desk/task-failure-store.ts";
import { PostgresTaskLimitStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/desk/task-limit-store.ts";
import { PostgresTaskFigureStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/figures/task-figure-store.ts";
import { PostgresTaskTakeStore } from "../../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take-store.ts";
import { PostgresTaskDays } from "../../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { PostgresTimerStore } from "../../../services/observer-manager/src/adapters/postgres/timers/postgres-timer-store.ts";
import { PostgresTypeDirectory } from "../../../services/observer-manager/src/adapters/postgres/types/type-reads.ts";
import { BalanceDesk } from "../../../services/observer-manager/src/operations/balance/balance-desk.ts";
import { BulkWorkDesk } from "../../../services/observer-manager/src/operations/bulk-work/bulk-work-desk.ts";
import { ChangeHub } from "../../../services/observer-manager/src/operations/changes/change-hub.ts";
import { ErrorDesk } from "../../../services/observer-manager/src/operations/errors/error-desk.ts";
import { FlowDesk } from "../../../services/observer-manager/src/operations/flows/flow-desk.ts";
import type { Log } from "../../../services/observer-manager/src/operations/log.ts";
import { LogDesk } from "../../../services/observer-manager/src/operations/logs/log-desk.ts";
import type { ManagerApi } from "../../../services/observer-manager/src/operations/manager-api.ts";
import { CheckpointDesk } from "../../../services/observer-manager/src/operations/observers/checkpoint-desk.ts";
import { ObserverLifecycle } from "../../../services/observer-manager/src/operations/observers/observer-lifecycle.ts";
import { ScheduleDesk } from "../../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { ServiceDesk } from "../../../services/observer-manager/src/operations/services/service-desk.ts";
import { TaskDesk } from "../../../services/observer-manager/src/operations/tasks/desk/task-desk.ts";
import { TaskFailureDesk } from "../../../services/observer-manager/src/operations/tasks/desk/task-failure-desk.ts";
import { TaskTypeDesk } from "../../../services/observer-manager/src/operations/tasks/desk/task-type-desk.ts";
import { TaskFigureDesk } from "../../../services/observer-manager/src/operations/tasks/figures/task-figure-desk.ts";
import { TaskLeases } from "../../../services/observer-manager/src/operations/tasks/takes/task-leases.ts";
import { TaskTakeDesk } from "../../../services/observer-manager/src/operations/tasks/takes/task-take-desk.ts";
import { WaitingTakers } from "../../../services/observer-manager/src/operations/tasks/takes/waiting-takers.ts";
import { TimerDesk } from "../../../services/observer-manager/src/operations/timers/timer-desk.ts";
import { TypeCheck } from "../../../services/observer-manager/src/operations/types/type-check.ts";
import { Waits } from "../../../services/observer-manager/src/operations/waits.ts";
import { NO_OWN_STARTS } from "../ports/no-own-starts.ts";
import { ROOT } from "../processes/processes.ts";
import { keptLog, type LogLine, type TestBooks, useBooks } from "../servers/books.ts";
import { type Called, type CallOptions, callHttp } from "./rest-client.ts";
import { expectAnswers } from "./watched-answers.ts";

/** A manager without a broker: HTTP, lifecycle, reads and changes are the real ones, on a real database. */
export interface HttpManager {
  url: string;
  server: HttpServer;
  lines: LogLine[];
  /** Whether creates are accepted: a manager says so once it has caught up with the state queue. */
  setReady(ready: boolean): void;
  /** Whether all managers and services know flows. */
  setFlowsKnown(known: boolean): void;
  /** Whether all managers would know what Paused is. */
  setMayPause(mayPause: boolean): void;
  call(method: string, path: string, options?: CallOptions): Promise<Called>;
  close(): Promise<void>;
  readonly isClosed: boolean;
}

/** Closed at the end of the test that opened it. */
export async function startHttpManager(...parts: Parameters<typeof openHttpManager>): Promise<HttpManager> {
  const manager = await openHttpManager(...parts);
  onTestFinished(() => manager.close());
  return manager;
}

/**
 * Whoever opens it closes it. `change` replaces parts of what HTTP is given, `access` of who may come in. With a
 * `basePath` its url and what it is called by are below that. `bounds`: of its connections and bodies.
 */
async function openHttpManager(
  databaseUrl: string,
  change: (api: ManagerApi) => ManagerApi = (api) => api,
  access: Partial<HttpAccess> = {},
  basePath = "",
  bounds: Pick<HttpServerSettings, "stalledMs" | "maxConnections" | "rooms"> = {},
): Promise<HttpManager> {
  const log = keptLog();
  const dataSource = await createDataSource({ databaseUrl, poolSize: 5, log }).initialize();
  const notifications = new Notifications(new Primary([{ url: databaseUrl }], log), log);
  const changes = new ChangeHub(new PostgresChangeLog(dataSource), notifications.of("unacked_changes"), log);
  const reads = postgresReads(dataSource, async () => null);
  const types = new TypeCheck(new PostgresTypeDirectory(dataSource), () => true);
  let ready = true;
  let mayPause = true;
  const store = new PostgresBooksStore(dataSource);
  const told = { isReady: () => ready, committed: () => undefined };
  const lifecycle = new ObserverLifecycle({
    store,
    types,
    mayPause: () => mayPause,
    mayUpdate: () => mayPause,
    mayTell: () => mayPause,
    maySchedule: () => true,
    ownStarts: NO_OWN_STARTS,
    log,
    ...told,
  });
  const checkpoints = new CheckpointDesk({
    store,
    types: new PostgresTypeDirectory(dataSource),
    find: (ref) => reads.findObserver(ref),
    read: (id) => reads.readCheckpoint(id),
    ...told,
  });
  const errors = new ErrorDesk({ store, types, ...told });
  const services = new ServiceDesk({
    store: new PostgresServiceStore(dataSource),
    mayCordon: () => mayPause,
    mayReload: () => mayPause,
    ...told,
  });
  const balance = new BalanceDesk({
    store: new PostgresBalanceStore(dataSource),
    isAuto: false,
    mayMove: () => mayPause,
    begun: () => undefined,
    ...told,
  });
  // There is no broker to ask by.
  const logs = new LogDesk({ places: new PostgresLogPlaces(dataSource), reader: { ask: async () => "no-broker" } });
  const readiness = async () => {
    const checks = { database: await checkDatabase(dataSource), stateConsumer: { ok: ready, detail: "of the test" } };
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  };
  await new PostgresTaskDays(dataSource).makeAhead();
  const taskStore = new PostgresTaskStore(dataSource);
  const waits = new Waits(taskStore, log);
  const bulk = new PostgresTaskBulkStore(dataSource);
  const takeStore = new PostgresTaskTakeStore(dataSource);
  const over = (ids: TaskId[]) => waits.over(ids);
  const queue = new PostgresTaskQueueStore(dataSource);
  const takers = new WaitingTakers({
    store: takeStore,
    queue,
    promoted: () => undefined,
    over,
    log,
  });
  const wake = () => takers.wake();
  const tally = { ended: () => undefined, leasesOver: () => undefined };
  const leases = new TaskLeases({ store: takeStore, tally, wake, over, log });
  const tasks = new TaskDesk({ store: taskStore, types: taskStore, bulk, waits, wake, cancelled: () => undefined });
  const taskTypes = new TaskTypeDesk({ store: new PostgresTaskLimitStore(dataSource), wake });
  const failures = new PostgresTaskFailureStore(dataSource);
  const taskFailures = new TaskFailureDesk({ store: failures, types: taskStore, tasks, wake });
  const taskFigures = new TaskFigureDesk(new PostgresTaskFigureStore(dataSource));
  const taskTakes = new TaskTakeDesk({ store: takeStore, takers, queue, tally, wake, madeRoom: wake, over, log });
  let areFlowsKnown = true;
  const flowStore = new PostgresFlowStore(dataSource);
  const flows = new FlowDesk({
    store: flowStore,
    types: taskStore,
    waits: new Waits(flowStore, log),
    mayUse: async () => areFlowsKnown,
    wake,
    followNow: () => undefined,
  });
  const api = change({
    lifecycle,
    checkpoints,
    errors,
    services,
    balance,
    logs,
    tasks,
    taskTypes,
    taskFailures,
    taskFigures,
    taskTakes,
    flows,
    timers: new TimerDesk({ store: new PostgresTimerStore(dataSource), wake: () => undefined }),
    schedules: new ScheduleDesk({
      store: new PostgresScheduleStore(dataSource),
      types: new PostgresTaskStore(dataSource),
      wake: () => undefined,
      wakeTasks: () => undefined,
      cancelled: () => undefined,
    }),
    bulkWork: new BulkWorkDesk({
      store: new PostgresBulkWorkStore(dataSource),
      whyNot: (act) => lifecycle.whyNot(act),
      wake: () => undefined,
    }),
    reads,
    changes,
    readiness,
  });
  const metrics = { contentType: "text/plain", render: () => Promise.resolve(""), answered: () => undefined };
  const server = await startHttpServer({
    port: 0,
    api,
    log,
    version: "0.0.0",
    pageFolder: join(ROOT, "services/status-page/dist"),
    describeError: describeDatabaseError,
    metrics,
    access: { ...accessOfAnybody(log), ...access },
    basePath,
    ...bounds,
  });
  expectAnswers();
  notifications.start();
  takers.start();
  leases.start();
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    logs.close();
    waits.close();
    void takers.close();
    await Promise.all([changes.close(), server.close(), leases.stop()]);
    await notifications.close();
    if (dataSource.isInitialized) await dataSource.destroy();
  };
  const call = (method: string, path: string, options?: CallOptions) => callHttp(`${server.url}${path}`, method, options);
  return {
    url: server.url,
    server,
    lines: log.lines,
    setReady: (value) => (ready = value),
    setFlowsKnown: (value) => (areFlowsKnown = value),
    setMayPause: (value) => (mayPause = value),
    call,
    close,
    get isClosed() {
      return isClosed;
    },
  };
}

interface EachTest {
  /** Tables that are empty when a test begins. */
  emptied?: string;
  /** Puts the rows that every test begins with. */
  rows?: (books: TestBooks) => Promise<unknown>;
  access?: () => Partial<HttpAccess>;
}

/**
 * The file's own books, and for its tests a manager on them: each finds it as if it had just been started. To start one takes half a second, so
 * there is another only where a test has closed it, or each has its own `access`.
 */
export function useHttpManager({ emptied, rows, access }: EachTest = {}): { books: TestBooks; manager: HttpManager } {
  const books = useBooks(emptied);
  let current: HttpManager;
  beforeEach(async () => {
    await rows?.(books);
    if (access !== undefined) current = await startHttpManager(books.databaseUrl, undefined, access());
    else if (current?.isClosed !== false) current = await openHttpManager(books.databaseUrl);
    current.setReady(true);
    current.setFlowsKnown(true);
    current.setMayPause(true);
    current.lines.length = 0;
  });
  afterAll(() => current?.close());
  const manager: HttpManager = {
    get url() {
      return current.url;
    },
    get server() {
      return current.server;
    },
    get lines() {
      return current.lines;
    },
    setReady: (ready) => current.setReady(ready),
    setFlowsKnown: (known) => current.setFlowsKnown(known),
    setMayPause: (mayPause) => current.setMayPause(mayPause),
    call: (method, path, options) => current.call(method, path, options),
    close: () => current.close(),
    get isClosed() {
      return current.isClosed;
    },
  };
  return { books, manager };
}

/** As with no setting given. */
function accessOfAnybody(log: Log): HttpAccess {
  return {
    callers: new KnownCallers({}, log),
    metricsAccess: "open",
    allowedHosts: [],
    corsOrigins: [],
    trustedProxies: [],
    tls: undefined,
    requestsPerMinute: 0,
    failuresPerMinute: 30,
  };
}
