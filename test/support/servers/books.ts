import { randomUUID } from "node:crypto";
import type { Pool } from "pg";
import type { DataSource } from "typeorm";
import type { PostgresDriver } from "typeorm/driver/postgres/PostgresDriver.js";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { createDataSource } from "../../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import type { Actor } from "../../../services/observer-manager/src/domain/access/identity.ts";
import { WHOLE } from "../../../services/observer-manager/src/domain/access/task-share.ts";
import { errorGroupOf } from "../../../services/observer-manager/src/domain/errors/error-group.ts";
import type { Log } from "../../../services/observer-manager/src/operations/log.ts";
import { eventually } from "../eventually.ts";
import { freshBooks } from "./servers.ts";

/** A database of the file's own with the real schema, and rows put there by hand: for what only reads. */
export interface TestBooks {
  databaseUrl: string;
  dataSource: DataSource;
  close(): Promise<void>;
}

/** Who does what a test does below HTTP. */
export const SOMEBODY: Actor = {
  name: "somebody",
  role: "admin",
  authentication: "anonymous",
  expiresAtMs: null,
  share: WHOLE,
  address: "127.0.0.1",
  requestId: "r-1",
};

export interface LogLine {
  level: "debug" | "info" | "warn" | "error";
  fields: object;
  message: string;
}

/** A log that can be looked at afterwards. */
export function keptLog(): Log & { lines: LogLine[] } {
  const lines: LogLine[] = [];
  const keep = (level: LogLine["level"]) => (fields: object, message: string) => void lines.push({ level, fields, message });
  return { lines, debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") };
}

export async function openBooks(): Promise<TestBooks> {
  const { databaseUrl } = await freshBooks();
  const dataSource = await createDataSource({ databaseUrl, poolSize: 5, log: keptLog() }).initialize();
  return { databaseUrl, dataSource, close: () => dataSource.destroy() };
}

/** The file's own books, opened before its first test and closed after its last one. `emptied` names tables: empty for each test. */
export function useBooks(emptied?: string): TestBooks {
  let open: TestBooks;
  beforeAll(async () => {
    open = await openBooks();
  });
  afterAll(() => open.close());
  if (emptied !== undefined) beforeEach(() => open.dataSource.query(`TRUNCATE ${emptied} CASCADE`));
  return {
    get databaseUrl() {
      return open.databaseUrl;
    },
    get dataSource() {
      return open.dataSource;
    },
    close: () => open.close(),
  };
}

/** PostgreSQL's clock, as all connections see it that there will be: those that there are, are ended. For when nothing else is asked. */
export async function shiftClock({ dataSource }: Pick<TestBooks, "dataSource">, seconds: number): Promise<void> {
  const { master: pool } = dataSource.driver as PostgresDriver & { master: Pool };
  const [{ name }] = (await dataSource.query("SELECT current_database() AS name")) as [{ name: string }];
  // One may still be made for somebody who was served by another.
  await eventually(() => pool.idleCount === pool.totalCount, { what: "a pool that makes no connection" });
  await dataSource.query(`ALTER DATABASE "${name}" SET unacked.clock_shift = '${seconds} seconds'`);
  await dataSource.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  await eventually(() => pool.totalCount === 1, { what: "a pool that has heard of the connections' ends" });
  await dataSource.query(`SELECT set_config('unacked.clock_shift', '${seconds} seconds', false)`);
}

/** Anything that takes a query: the DataSource, or one connection's transaction. */
export interface Queryable {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

const OBSERVER = {
  type: "ticker",
  params: {},
  labels: {},
  pool: "default",
  retry: { maxAttempts: "unlimited", delaysMs: [1_000], resetAfterMs: 600_000 },
  status: "Created",
};

/** Columns of `observers` over the defaults. A status that needs a run gets one, on `current_service_id`; one that needs a time, tomorrow. */
export async function putObserver(books: Queryable, columns: Record<string, unknown> = {}): Promise<string> {
  const id = randomUUID();
  const row: Record<string, unknown> = { id, name: `o-${id.slice(0, 8)}`, ...OBSERVER, ...columns };
  const runs = row["status"] === "Processing" || row["status"] === "Retrying";
  if (runs) row["current_service_id"] ??= randomUUID();
  if (row["status"] === "Scheduled") row["start_next_at"] ??= new Date(Date.now() + 86_400_000);
  if (row["last_error"] !== undefined) row["error_group"] ??= errorGroupOf(textOf(row["last_error"]));
  if (row["current_service_id"] !== undefined) row["current_run_id"] ??= randomUUID();
  await insert(books, "observers", row);
  return String(row["id"]);
}

const textOf = (error: unknown): string => {
  const { name, message } = error as { name: string; message: string };
  return `${name}: ${message}`;
};

/** One that runs: with its current run, on `current_service_id`. */
export async function putRunning(books: Queryable, columns: Record<string, unknown> = {}): Promise<string> {
  const [runId, serviceId] = [randomUUID(), columns["current_service_id"] ?? randomUUID()];
  const own = { current_run_id: runId, current_service_id: serviceId, epoch: 1 };
  const id = await putObserver(books, { status: "Processing", ...columns, ...own });
  const run = { observer_id: id, service_id: serviceId, generation: 1, message_id: randomUUID(), revision: 1, epoch: 1 };
  await insert(books, "runs", { id: runId, ...run, state: "Current", started_at: new Date() });
  return id;
}

export async function putService(books: Queryable, columns: Record<string, unknown> = {}): Promise<string> {
  const id = randomUUID();
  const defaults = {
    id,
    name: `s-${id.slice(0, 8)}`,
    pool: "default",
    state: "Alive",
    generation: 1,
    last_seq: 1,
    worker_count: 10,
  };
  await insert(books, "services", { ...defaults, ...columns });
  return String(columns["id"] ?? id);
}

export async function insert(books: Queryable, table: string, row: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(row);
  const values = Object.entries(row).map(([column, value]) => (JSON_COLUMNS.has(column) ? JSON.stringify(value) : value));
  const marks = columns.map((_, index) => `$${index + 1}`);
  await books.query(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks.join(", ")})`, values);
}

const JSON_COLUMNS = new Set(["params", "labels", "retry", "last_error", "types", "error"]);
