import { randomUUID } from "node:crypto";
import type { MigrationInterface, QueryRunner } from "typeorm";
import { expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import {
  describeDatabaseError,
  isLocked,
} from "../../services/observer-manager/src/adapters/postgres/connection/database-error.ts";
import { migrate, UnreleasedBooksError } from "../../services/observer-manager/src/adapters/postgres/connection/migrate.ts";
import { DatabaseSide } from "../../services/observer-manager/src/adapters/postgres/database-side.ts";
import { MIGRATIONS } from "../../services/observer-manager/src/adapters/postgres/migrations/migrations.ts";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { insert, keptLog } from "../support/servers/books.ts";
import { freshBooks, freshDatabase } from "../support/servers/servers.ts";

/** As a manager of its own would have it. */
async function connect(databaseUrl: string, options: { statementTimeoutMs?: number } = {}) {
  const dataSource = await createDataSource({ databaseUrl, log: keptLog(), ...options }).initialize();
  onTestFinished(() => dataSource.destroy());
  return dataSource;
}

const ENTRY = {
  id: randomUUID(),
  actor: "ann",
  role: "operator",
  authentication: "anonymous",
  address: "127.0.0.1",
  request_id: "r-1",
  deed: "observer.create",
  count: 1,
  targets: "[]",
  details: "{}",
};

/** Tables, functions, indexes and triggers of the books, with what they are made of; TypeORM's own table is left out. */
const MADE = `
  SELECT made FROM (
    SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type AS made FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name <> 'migrations'
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND tablename <> 'migrations'
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = current_schema()::regnamespace AND conrelid::regclass::text <> 'migrations') all_of_it
  ORDER BY made`;

test("managers that start at once migrate once, and one that comes later finds nothing to do", async () => {
  const { databaseUrl } = await freshDatabase();
  const managers = await Promise.all([1, 2, 3].map(() => connect(databaseUrl)));
  const applied = await Promise.all(managers.map((manager) => migrate(manager)));
  expect(applied.flat().length).toBeGreaterThan(0);
  expect(new Set(applied.flat()).size).toBe(applied.flat().length);
  expect(await migrate(await connect(databaseUrl))).toEqual([]);
});

test("one that goes silent in the middle holds the others up for no longer than it may be idle, and leaves nothing", async () => {
  const { databaseUrl } = await freshDatabase();
  const log = keptLog();
  const seen: unknown[] = [];
  class Frozen1 implements MigrationInterface {
    name = "Frozen1790000000001";
    async up(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query("CREATE TABLE half_made ()");
      seen.push(...(await queryRunner.query("SHOW idle_session_timeout")));
      await new Promise(() => undefined);
    }
    async down(): Promise<void> {}
  }
  const frozen = createDataSource({ databaseUrl, log });
  frozen.setOptions({ migrations: [Frozen1] });
  await frozen.initialize();
  onTestFinished(() => frozen.destroy());
  const frozenOnes = migrate(frozen, 5_000);
  frozenOnes.catch(() => undefined);
  await eventually(() => expect(seen).toEqual([{ idle_session_timeout: "5s" }]));
  const next = await connect(databaseUrl);
  expect((await migrate(next)).length).toBeGreaterThan(0);
  expect(await next.query("SELECT to_regclass('half_made') AS half")).toEqual([{ half: null }]);
});

test("one that waits for a table which somebody reads for long lets others write meanwhile, and goes through once that one is done", async () => {
  const { databaseUrl } = await freshBooks();
  class NoteOfAudit1 implements MigrationInterface {
    name = "NoteOfAudit1790000000002";
    async up(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query("ALTER TABLE audit ADD COLUMN note text");
    }
    async down(): Promise<void> {}
  }
  const [dump, older] = [await connect(databaseUrl), await connect(databaseUrl, { statementTimeoutMs: 5_000 })];
  const reading = dump.createQueryRunner();
  await reading.startTransaction();
  await reading.query("LOCK TABLE audit IN ACCESS SHARE MODE"); // as pg_dump does
  const newer = createDataSource({ databaseUrl, log: keptLog() });
  newer.setOptions({ migrations: [...MIGRATIONS, NoteOfAudit1] });
  await newer.initialize();
  onTestFinished(() => newer.destroy());
  const failing = () => migrate(newer).catch((error: unknown) => error);
  let failure: Promise<unknown> | undefined;
  let isTrying = false;
  await eventually(async () => {
    // It waits for 2 s, which may be over before a machine that does much else has looked.
    if (!isTrying) failure = failing().finally(() => (isTrying = false));
    isTrying = true;
    const waiting = `SELECT FROM pg_locks WHERE relation = 'audit'::regclass AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    expect(await older.query(waiting)).toHaveLength(1);
  });
  await insert(older, "audit", ENTRY);
  const error = await failure;
  expect([isLocked(error), describeDatabaseError(error).unavailable]).toEqual([true, true]);
  await reading.rollbackTransaction();
  await reading.release();
  expect(await migrate(newer)).toEqual(["NoteOfAudit1790000000002"]);
}, 60_000);

test("a manager that cannot migrate as a table is held says so, leaves it for a while, and opens its books once that is over", async () => {
  const { databaseUrl } = await freshBooks();
  const dataSource = await connect(databaseUrl);
  await dataSource.undoLastMigration();
  const holding = dataSource.createQueryRunner();
  await holding.startTransaction();
  await holding.query("LOCK TABLE migrations IN SHARE MODE");
  const manager = new DatabaseSide({ databaseUrl, tls: {}, poolSize: 2, log: keptLog() });
  onTestFinished(() => manager.close());
  expect(await manager.open()).toBe(5_000);
  expect(await manager.check()).toEqual({
    ok: false,
    detail: "canceling statement due to lock timeout",
    remedy: expect.stringContaining("pg_stat_activity"),
  });
  await holding.rollbackTransaction();
  await holding.release();
  expect(await manager.open()).toBe(0);
  expect(await manager.check()).toEqual({ ok: true, detail: "answers" });
}, 60_000);

test("a manager whose one address leads to a database of before, as behind a proxy, migrates it when it listens again", async () => {
  const { databaseUrl } = await freshBooks();
  const dataSource = await connect(databaseUrl);
  const log = keptLog();
  const manager = new DatabaseSide({ databaseUrl, tls: {}, poolSize: 2, log });
  onTestFinished(() => manager.close());
  let woken = 0;
  manager.notifications("unacked_changes").onWake(() => (woken += 1));
  expect(await manager.open()).toBe(0);
  await eventually(() => expect(woken).toBe(1));
  const last = "SELECT name FROM migrations ORDER BY id DESC LIMIT 1";
  const before = await dataSource.query(last);
  // It may still be looking, as it does since its first connection, and then does it before that ends.
  await dataSource.undoLastMigration();
  await dataSource.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'unacked-manager-listener'",
  );
  await eventually(async () => expect(await dataSource.query(last)).toEqual(before), { timeoutMs: 10_000 });
  await eventually(() => expect(JSON.stringify(log.lines)).toContain("schema-caught-up"));
}, 60_000);

test("each can be undone, from the last to the first, and done again, with nothing left and nothing missing", async () => {
  const { databaseUrl } = await freshDatabase();
  const dataSource = await connect(databaseUrl);
  const applied = await migrate(dataSource);
  const madeBy = async (): Promise<string[]> => {
    const rows = await dataSource.query<{ made: string }[]>(MADE);
    return rows.map(({ made }) => made);
  };
  const made = await madeBy();
  for (const _ of applied) await dataSource.undoLastMigration();
  expect(await madeBy()).toEqual([]);
  expect(await migrate(dataSource)).toEqual(applied);
  expect(await madeBy()).toEqual(made);
});

test("tables of a commit that was never released are refused and left as they are; those of a later version, or of another program, are not", async () => {
  const { databaseUrl } = await freshBooks();
  const dataSource = await connect(databaseUrl);
  const note = (timestamp: number) =>
    dataSource.query("INSERT INTO migrations (timestamp, name) VALUES ($1, $2)", [timestamp, `Tasks${timestamp}`]);
  await note(2_800_000_000_001);
  await note(1_790_000_012_345); // in ms, as TypeORM names them
  expect(await migrate(dataSource)).toEqual([]);
  await dataSource.query("DELETE FROM migrations WHERE name <> 'Books1700000000001'");
  await note(1_795_200_000_014);
  const before = await dataSource.query<object[]>(MADE);
  await expect(migrate(dataSource)).rejects.toThrow(UnreleasedBooksError);
  await expect(migrate(dataSource)).rejects.toThrow(/Tasks1795200000014.*--fresh/);
  expect(await dataSource.query(MADE)).toEqual(before);
});

test("a query before the database was ever reached is one that may succeed later", async () => {
  const { databaseUrl } = await freshDatabase();
  const dataSource = createDataSource({ databaseUrl, log: keptLog() });
  const failures = [dataSource.query("SELECT 1"), dataSource.transaction((tx) => tx.query("SELECT 1"))];
  for (const failure of await Promise.allSettled(failures)) {
    expect(failure.status).toBe("rejected");
    expect(describeDatabaseError((failure as PromiseRejectedResult).reason).unavailable).toBe(true);
  }
});

test("a query whose answer never comes ends its connection, so that nobody waits behind it", async () => {
  const { databaseUrl } = await freshDatabase();
  const wire = await tcpProxy(databaseUrl);
  const dataSource = await connect(wire.through(databaseUrl), { statementTimeoutMs: 1_000 });
  wire.blackhole();
  await expect(dataSource.query("SELECT 1")).rejects.toSatisfy((error) => describeDatabaseError(error).unavailable);
  const before = wire.acceptedConnections;
  const next = dataSource.query("SELECT 1 AS one");
  await eventually(() => wire.acceptedConnections > before, { what: "the next query has a connection of its own" });
  await wire.heal();
  expect(await next).toEqual([{ one: 1 }]);
});

test("a statement that runs too long is ended by PostgreSQL, and the connection still serves", async () => {
  const { databaseUrl } = await freshDatabase();
  const dataSource = await connect(databaseUrl, { statementTimeoutMs: 1_000 });
  await expect(dataSource.query("SELECT pg_sleep(5)")).rejects.toMatchObject({ driverError: { code: "57014" } });
  expect(await dataSource.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
});
