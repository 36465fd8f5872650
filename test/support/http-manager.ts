import { onTestFinished } from "vitest";
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
import { ObserverLifecycle } from "../../services/observer-manager/src/flows/lifecycle.ts";
import { LogDesk } from "../../services/observer-manager/src/flows/log-desk.ts";
import type { ManagerApi } from "../../services/observer-manager/src/flows/manager-api.ts";
import { ServiceDesk } from "../../services/observer-manager/src/flows/service-desk.ts";
import { TypeCheck } from "../../services/observer-manager/src/flows/type-check.ts";
import { keptLog, type LogLine } from "./books.ts";

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

export interface CallOptions {
  json?: unknown;
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

export interface Called {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the manager answered; the assertions say what it should be.
  body: any; // oxlint-disable-line typescript/no-explicit-any
}

/** Closed at the end of the test that opened it. `change` replaces parts of what HTTP is given. */
export async function startHttpManager(
  databaseUrl: string,
  change: (api: ManagerApi) => ManagerApi = (api) => api,
): Promise<HttpManager> {
  const log = keptLog();
  const dataSource = await createDataSource({ databaseUrl, poolSize: 5, log }).initialize();
  const notifications = new Notifications(databaseUrl, log);
  const changes = new ChangeHub(new PostgresChangeLog(dataSource), notifications.of("unacked_changes"), log);
  const reads = postgresReads(dataSource, async () => null);
  const types = new TypeCheck(new PostgresTypeDirectory(dataSource));
  let ready = true;
  const store = new PostgresBooksStore(dataSource);
  const lifecycle = new ObserverLifecycle({ store, types, isReady: () => ready, committed: () => undefined, log });
  const errors = new ErrorDesk({ store, isReady: () => ready, committed: () => undefined });
  const services = new ServiceDesk({
    store: new PostgresServiceStore(dataSource),
    isReady: () => ready,
    committed: () => undefined,
  });
  // There is no broker to ask by.
  const logs = new LogDesk({ places: new PostgresLogPlaces(dataSource), reader: { ask: async () => "no-broker" } });
  const readiness = async () => {
    const checks = { database: await checkDatabase(dataSource), stateConsumer: { ok: ready, detail: "of the test" } };
    return { ready: Object.values(checks).every(({ ok }) => ok), checks };
  };
  const api = change({ lifecycle, errors, services, logs, reads, changes, readiness });
  const metrics = { contentType: "text/plain", render: () => Promise.resolve("") };
  const server = await startHttpServer({
    port: 0,
    api,
    log,
    version: "0.0.0",
    describeError: describeDatabaseError,
    metrics,
  });
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

export async function callHttp(url: string, method: string, { json, body, headers }: CallOptions = {}): Promise<Called> {
  const sent = json === undefined ? body : JSON.stringify(json);
  const type: Record<string, string> = json === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(url, { method, body: sent, headers: { ...type, ...headers } });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a page, a stream, or nothing
  }
}
