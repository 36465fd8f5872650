import pg from "pg";
import type { DataSource } from "typeorm";
import { expect, onTestFinished, test, vi } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { prepared, uncounted } from "../../services/observer-manager/src/adapters/postgres/statements/prepared.ts";
import { allInOrder } from "../../services/observer-manager/src/operations/all-in-order.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog } from "../support/servers/books.ts";
import { freshDatabase } from "../support/servers/servers.ts";

const ADD = prepared("INSERT INTO numbers (number) VALUES ($1)");
const READ = prepared("SELECT number FROM numbers WHERE number > $1 ORDER BY number");

/** With one connection, so that all is asked of it. */
async function oneConnection(options: { statementTimeoutMs?: number } = {}) {
  const { databaseUrl } = await freshDatabase();
  const dataSource = await createDataSource({ databaseUrl, log: keptLog(), poolSize: 1, ...options }).initialize();
  onTestFinished(() => dataSource.destroy());
  await dataSource.query("CREATE TABLE numbers (number int PRIMARY KEY)");
  return dataSource;
}

const FIND = prepared(`SELECT number FROM numbers WHERE number = ANY(${uncounted("$1", "int")})`);
const PREPARED = "SELECT statement FROM pg_prepared_statements WHERE statement = $1";

test("a marked statement is prepared once by each connection", async () => {
  const dataSource = await oneConnection();
  for (const number of [1, 2, 3]) await dataSource.query(ADD, [number]);
  expect(await dataSource.query(READ, [1])).toEqual([{ number: 2 }, { number: 3 }]);
  expect(await dataSource.query(PREPARED, [ADD])).toHaveLength(1);
  const plansOf = async () => {
    const sql = "SELECT generic_plans + custom_plans AS plans FROM pg_prepared_statements WHERE statement = $1";
    return Number((await dataSource.query<{ plans: string }[]>(sql, [READ]))[0]?.plans);
  };
  const before = await plansOf();
  await dataSource.query(READ, [0]);
  expect(await plansOf()).toBe(before + 1);
});

test("what a transaction asks without waiting is done in that order, and the first refusal is what is told", async () => {
  const dataSource = await oneConnection();
  const written = await dataSource.transaction((tx) =>
    allInOrder([tx.query(ADD, [1]), tx.query(READ, [0]), tx.query(ADD, [2]), tx.query(READ, [0])]),
  );
  expect([written[1], written[3]]).toEqual([[{ number: 1 }], [{ number: 1 }, { number: 2 }]]);
  const refused = dataSource.transaction((tx) =>
    allInOrder([tx.query(ADD, [3]), tx.query(ADD, [1]), tx.query(ADD, [4]), tx.query("NOTIFY nobody")]),
  );
  await expect(refused).rejects.toMatchObject({ driverError: { code: "23505" } });
  expect(await dataSource.query(READ, [0])).toEqual([{ number: 1 }, { number: 2 }]);
});

test("what is asked together has each its time, however long all of it takes", async () => {
  const dataSource = await oneConnection({ statementTimeoutMs: 4_000 });
  const slow = "SELECT pg_sleep(1)"; // seven of them last longer than one may be waited for
  const answers = await dataSource.transaction((tx) => allInOrder([1, 2, 3, 4, 5, 6, 7].map(() => tx.query(slow))));
  expect(answers).toHaveLength(7);
});

test("a connection whose prepared statement gives other columns since a migration is replaced", async () => {
  const dataSource = await oneConnection();
  await dataSource.query(ADD, [1]);
  await dataSource.query(READ, [0]);
  await dataSource.query("ALTER TABLE numbers ALTER number TYPE text");
  await dataSource.query("ALTER TABLE numbers ALTER number TYPE bigint USING number::bigint");
  const read = () => dataSource.query<unknown[]>(READ, [0]);
  await expect(read()).rejects.toThrow("cached plan must not change result type");
  await eventually(async () => (await read()).length === 1, { what: "the next connection reads it" });
});

const NAME = "SELECT name FROM pg_prepared_statements WHERE statement = $1";

/** What PostgreSQL would do if it were asked again on this connection, by the plan that it keeps. */
async function planOf(dataSource: DataSource, statement: string): Promise<string> {
  const [row] = await dataSource.query<{ name: string }[]>(NAME, [statement]);
  const lines = await dataSource.query<Record<string, string>[]>(`EXPLAIN (COSTS OFF) EXECUTE "${row?.name}" ('{5}')`);
  return lines.map((line) => line["QUERY PLAN"]).join("\n");
}

test("a plan for any number of values is kept, until the table that it was made for has grown", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const dataSource = await oneConnection();
  await dataSource.query("ALTER TABLE numbers SET (autovacuum_enabled = off)");
  await dataSource.query("INSERT INTO numbers SELECT generate_series(1, 10)");
  await dataSource.query("ANALYZE numbers");
  const find = () => dataSource.query(FIND, [[5]]);
  for (let i = 0; i < 10; i += 1) await find();
  const plans = "SELECT generic_plans AS generic, custom_plans AS custom FROM pg_prepared_statements WHERE statement = $1";
  expect(await dataSource.query(plans, [FIND])).toEqual([{ generic: "5", custom: "5" }]);
  expect(await planOf(dataSource, FIND)).toContain("Seq Scan on numbers");
  await dataSource.query("INSERT INTO numbers SELECT generate_series(11, 20000)");
  // After five seconds it would be made anew in any case.
  for (let passedMs = 0; passedMs < 2_500 && !(await planOf(dataSource, FIND)).includes("Index"); passedMs += 250) {
    vi.advanceTimersByTime(250);
    await find();
  }
  expect(await planOf(dataSource, FIND)).toContain("Index");
  expect(await find()).toEqual([{ number: 5 }]);
});

test("where a table is locked, what asks others is not held up", async () => {
  const { databaseUrl } = await freshDatabase();
  const dataSource = await createDataSource({ databaseUrl, log: keptLog(), poolSize: 2 }).initialize();
  onTestFinished(() => dataSource.destroy());
  await dataSource.query("CREATE TABLE numbers (number int PRIMARY KEY)");
  await dataSource.query("CREATE TABLE locked ()");
  const locker = new pg.Client({ connectionString: databaseUrl });
  await locker.connect();
  onTestFinished(() => locker.end());
  await locker.query("BEGIN");
  await locker.query("LOCK locked IN ACCESS EXCLUSIVE MODE");
  for (const number of [1, 2, 3]) await dataSource.query(ADD, [number]);
  await eventually(async () => {
    expect(await dataSource.query(READ, [2])).toEqual([{ number: 3 }]);
    const waits =
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    expect(await dataSource.query(waits)).toEqual([{ count: 0 }]);
  });
});
