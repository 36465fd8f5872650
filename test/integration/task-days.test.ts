import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { DataSource } from "typeorm";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, openBooks, type TestBooks } from "../support/servers/books.ts";

const DAY_MS = 86_400_000;
/** Longer than a test takes. */
const LATE_MS = 60_000;

let books: TestBooks;
let db: DataSource;
let days: PostgresTaskDays;

beforeAll(async () => {
  books = await openBooks();
  db = books.dataSource;
  days = new PostgresTaskDays(db);
});
afterAll(() => books.close());
beforeEach(async () => {
  // What a test calls today has to be so at its end: in a day's last minute the next one is waited for.
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < LATE_MS) await sleep(leftMs + 1_000);
  for (const { name } of await partitions()) await db.query(`DROP TABLE ${name}`);
});

const partitions = (): Promise<{ name: string; leaving: boolean }[]> =>
  db.query(`SELECT inhrelid::regclass::text AS name, inhdetachpending AS leaving FROM pg_inherits
            WHERE inhparent = 'ended_tasks'::regclass ORDER BY 1`);

/** So many days ago, as a partition is named. */
const nameOf = (daysAgo: number): string =>
  `ended_tasks_${new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "_")}`;

const dayAt = (daysAgo: number): string => new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);

async function putDay(daysAgo: number): Promise<void> {
  await db.query(
    `CREATE TABLE ${nameOf(daysAgo)} PARTITION OF ended_tasks FOR VALUES FROM ('${dayAt(daysAgo)}Z') TO ('${dayAt(daysAgo - 1)}Z')`,
  );
}

/** One task ends. */
const END = `
  INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, created_at, ended_at)
  VALUES (gen_random_uuid(), 'work', '{}', 'default', 0, 'Completed', now(), 0, 0, 0, 1, now(), unacked_now())`;

/** Somebody who reads the books in one snapshot, as a backup does, until the test is over. */
async function reader(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: books.databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await client.query("SELECT count(*) FROM ended_tasks");
  return client;
}

/** What a manager has, that waits for no more than a second. */
async function impatient(statementTimeoutMs = 1_000): Promise<PostgresTaskDays> {
  const settings = { databaseUrl: books.databaseUrl, poolSize: 2, log: keptLog(), statementTimeoutMs };
  const own = await createDataSource(settings).initialize();
  onTestFinished(() => own.destroy());
  return new PostgresTaskDays(own);
}

test("There is a day for each of the week to come, also where two managers make them at once", async () => {
  await Promise.all([days.makeAhead(), new PostgresTaskDays(db).makeAhead()]);
  const expected = Array.from({ length: 9 }, (_, i) => nameOf(1 - i));
  expect((await partitions()).map(({ name }) => name)).toEqual(expected);
  const [{ count }] = await db.query(
    `SELECT count(*)::int AS count FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE c.relname LIKE 'ended_tasks_%' AND EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = i.indexrelid)`,
  );
  expect(count).toBe(9 * 4); // each has the four indexes, as parts of those of the whole
});

test("A day is made, and tasks end, while somebody reads them in a long snapshot", async () => {
  await days.makeAhead();
  await db.query(`DROP TABLE ${nameOf(-7)}`);
  await reader();
  await (await impatient()).makeAhead();
  expect((await partitions()).map(({ name }) => name)).toContain(nameOf(-7));
  await db.query(END);
});

test("A day is left while somebody reads in a long snapshot: tasks end meanwhile, and it goes when he has read", async () => {
  await days.makeAhead();
  await putDay(5);
  await putDay(6);
  const backup = await reader();
  const manager = await impatient(5_000);
  let waits = true;
  const leaving = manager.dropOlderThan(3 * DAY_MS).catch((error: unknown) => {
    waits = false;
    return error;
  });
  for (let i = 0; i < 20; i += 1) await db.query(END);
  expect(waits).toBe(true);
  expect(String(await leaving)).toMatch(/statement timeout/);
  expect(await partitions()).toContainEqual({ name: nameOf(6), leaving: true });
  await expect(manager.dropOlderThan(3 * DAY_MS)).rejects.toThrow(/statement timeout/);
  await db.query(END);
  await backup.query("ROLLBACK");
  const dropped = await eventually(() => manager.dropOlderThan(3 * DAY_MS));
  expect(dropped).toEqual([nameOf(6), nameOf(5)]);
  expect((await partitions()).map(({ name }) => name)).not.toContain(nameOf(6));
});

test("A day that was detached, and not dropped as its manager died, goes the next time", async () => {
  await days.makeAhead();
  for (const daysAgo of [6, 2]) {
    await putDay(daysAgo);
    await db.query(`ALTER TABLE ended_tasks DETACH PARTITION ${nameOf(daysAgo)}`);
  }
  expect(await days.dropOlderThan(3 * DAY_MS)).toEqual([nameOf(6)]);
  const there = await db.query("SELECT to_regclass($1) AS old, to_regclass($2) AS young", [nameOf(6), nameOf(2)]);
  expect(there).toEqual([{ old: null, young: nameOf(2) }]);
  await db.query(`DROP TABLE ${nameOf(2)}`);
});
