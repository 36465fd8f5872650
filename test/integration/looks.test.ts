import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { Looks } from "../../services/observer-manager/src/adapters/postgres/statements/looks.ts";
import { keptLog } from "../support/servers/books.ts";
import { freshDatabase } from "../support/servers/servers.ts";

async function twoTables() {
  const { databaseUrl } = await freshDatabase();
  const dataSource = await createDataSource({ databaseUrl, log: keptLog() }).initialize();
  onTestFinished(() => dataSource.destroy());
  for (const table of ["numbers", "locked"]) {
    await dataSource.query(`CREATE TABLE ${table} (number int PRIMARY KEY)`);
    await dataSource.query(`INSERT INTO ${table} VALUES (1), (2), (3)`);
  }
  return { databaseUrl, looks: Looks.of(dataSource), asked: vi.spyOn(dataSource, "query"), dataSource };
}

/** For a machine that does much else: however long PostgreSQL takes, nobody looks by himself. */
function neverTooLong(): void {
  const later = globalThis.setTimeout;
  const patient = (act: () => void, ms?: number) => later(ms === 500 ? () => undefined : act, ms);
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation(patient as typeof setTimeout);
  onTestFinished(() => timers.mockRestore());
}

const MAX_BELOW = "SELECT max(number) FROM numbers WHERE number < $1";
const ANY_LOCKED = "SELECT EXISTS (SELECT FROM locked WHERE number = $2 OR number > $1)";

test("what is asked in the same moment is one statement, and each is answered its own", async () => {
  neverTooLong();
  const { looks, asked, dataSource } = await twoTables();
  const answers = await Promise.all([
    looks.ask(MAX_BELOW, [3]),
    looks.ask(ANY_LOCKED, [3, 3]),
    looks.ask(ANY_LOCKED, [3, 4]),
    Looks.of(dataSource).askRows("SELECT number, number > $1 AS large FROM numbers ORDER BY number LIMIT 2", [1]),
    looks.askRows("SELECT number FROM numbers WHERE number > 3"),
    looks.ask(MAX_BELOW, [1]),
  ]);
  const rows = [
    { number: 1, large: false },
    { number: 2, large: true },
  ];
  expect(answers).toEqual([2, true, false, rows, [], null]);
  expect(asked).toHaveBeenCalledTimes(1);
});

test("a table that somebody has locked holds up nobody but who looks at it", async () => {
  const { databaseUrl, looks, asked } = await twoTables();
  const operator = new pg.Client(databaseUrl);
  await operator.connect();
  onTestFinished(() => operator.end());
  await operator.query("BEGIN");
  await operator.query("LOCK TABLE locked");
  const held = looks.ask(ANY_LOCKED, [0, 0]);
  expect(await looks.ask(MAX_BELOW, [3])).toBe(2);
  expect(asked).toHaveBeenCalledTimes(3); // together, and then each
  const again = looks.ask(ANY_LOCKED, [0, 0]);
  expect(await looks.ask(MAX_BELOW, [2])).toBe(1);
  expect(asked).toHaveBeenCalledTimes(5); // for some seconds nobody waits to see it again
  await operator.query("COMMIT");
  expect(await Promise.all([held, again])).toEqual([true, true]);
});

test("one that PostgreSQL refuses fails alone", async () => {
  const { looks } = await twoTables();
  const refused = looks.ask("SELECT nobody FROM numbers");
  const answered = looks.ask(MAX_BELOW, [3]);
  await expect(refused).rejects.toThrow(/nobody/);
  expect(await answered).toBe(2);
});
