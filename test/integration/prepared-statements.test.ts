import { expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { prepared } from "../../services/observer-manager/src/adapters/postgres/connection/prepared.ts";
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
  const dataSource = await oneConnection({ statementTimeoutMs: 900 });
  const slow = "SELECT pg_sleep(0.7)"; // five of them last longer than one may be waited for
  const answers = await dataSource.transaction((tx) => allInOrder([1, 2, 3, 4, 5].map(() => tx.query(slow))));
  expect(answers).toHaveLength(5);
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
