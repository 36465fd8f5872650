import { join } from "node:path";
import { onTestFinished } from "vitest";
import { KnownCallers } from "../../services/observer-manager/src/adapters/access/known-callers.ts";
import type { HttpAccess } from "../../services/observer-manager/src/adapters/http/app.ts";
import { type HttpServer, startHttpServer } from "../../services/observer-manager/src/adapters/http/http-server.ts";
import { PostgresChangeLog } from "../../services/observer-manager/src/adapters/postgres/change-feed.ts";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/data-source.ts";
import { checkDatabase } from "../../services/observer-manager/src/adapters/postgres/database-check.ts";
import { describeDatabaseError } from "../../services/observer-manager/src/adapters/postgres/database-error.ts";
import { PostgresLogPlaces } from "../../services/observer-manager/src/adapters/postgres/log-places.ts";
import { Notifications } from "../../services/observer-manager/src/adapters/postgres/notifications.ts";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/postgres-books-store.ts";
import { postgresReads } from "../../services/observer-manager/src/adapters/postgres/postgres-reads.ts";
import { PostgresServiceStore } from "../../services/observer-manager/src/adapters/postgres/service-store.ts";
import { PostgresTypeDirectory } from "../../services/observer-manager/src/adapters/postgres/type-reads.ts";
import { ChangeHub } from "../../services/observer-manager/src/flows/change-hub.ts";
import { ErrorDesk } from "../../services/observer-manager/src/flows/error-desk.ts";
import { FreshStarts } from "../../services/observer-manager/src/flows/fresh-starts.ts";
import { ObserverLifecycle } from "../../services/observer-manager/src/flows/lifecycle.ts";
import type { Log } from "../../services/observer-manager/src/flows/log.ts";
import { LogDesk } from "../../services/observer-manager/src/flows/log-desk.ts";
import type { ManagerApi } from "../../services/observer-manager/src/flows/manager-api.ts";
import { ServiceDesk } from "../../services/observer-manager/src/flows/service-desk.ts";
import { TypeCheck } from "../../services/observer-manager/src/flows/type-check.ts";
import { keptLog, type LogLine } from "./books.ts";
import { ROOT } from "./processes.ts";
import { type Called, type CallOptions, callHttp } from "./rest-client.ts";
import { expectAnswers } from "./watched-answers.ts";

/** A manager without its broker side: HTTP, lifecycle, reads and changes are the real ones, on a real database. */
export interface HttpManager {
  url: string;
  server: HttpServer;
  lines: LogLine[];
  /** Whether creates are accepted: a manager says so once it has caught up with the state queue. */
  setReady(ready: boolean): void;
  call(method: string, path: string, options?: CallOptions): Promise<Called>;
  close(): Promise<void>;
}

/** Closed at the end of the test that opened it. `change` replaces parts of what HTTP is given, `access` of who may come in. */
export async function startHttpManager(
  databaseUrl: string,
  change: (api: ManagerApi) => ManagerApi = (api) => api,
  access: Partial<HttpAccess> = {},
): Promise<HttpManager> {
  const log = keptLog();
  const dataSource = await createDataSource({ databaseUrl, poolSize: 5, log }).initialize();
  const notifications = new Notifications({ url: databaseUrl }, log);
  const changes = new ChangeHub(new PostgresChangeLog(dataSource), notifications.of("unacked_changes"), log);
  const reads = postgresReads(dataSource, async () => null);
  const types = new TypeCheck(new PostgresTypeDirectory(dataSource));
  let ready = true;
  const store = new PostgresBooksStore(dataSource);
  const told = { isReady: () => ready, committed: () => undefined };
  const lifecycle = new ObserverLifecycle({ store, types, freshStarts: new FreshStarts(), log, ...told });
  const errors = new ErrorDesk({ store, ...told });
  const services = new ServiceDesk({ store: new PostgresServiceStore(dataSource), ...told });
  // There is no broker to ask by.
  const logs = new LogDesk({ places: new PostgresLogPlaces(dataSource), reader: { ask: async () => "no-broker" } });
  const readiness = async () => {
    const checks = { database: await checkDatabase(dataSource), stateConsumer: { ok: ready, detail: "of the test" } };
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  };
  const api = change({ lifecycle, errors, services, logs, reads, changes, readiness });
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
  });
  expectAnswers();
  notifications.start();
  const close = async () => {
    logs.close();
    await Promise.all([changes.close(), server.close()]);
    await notifications.close();
    if (dataSource.isInitialized) await dataSource.destroy();
  };
  onTestFinished(close);
  const call = (method: string, path: string, options?: CallOptions) => callHttp(`${server.url}${path}`, method, options);
  return { url: server.url, server, lines: log.lines, setReady: (value) => (ready = value), call, close };
}

/** As with no setting given. */
function accessOfAnybody(log: Log): HttpAccess {
  return {
    callers: new KnownCallers({}, log),
    metricsAccess: "open",
    ...{ allowedHosts: [], corsOrigins: [], trustedProxies: [], tls: undefined },
    ...{ requestsPerMinute: 0, failuresPerMinute: 30 },
  };
}
