import { expect, test } from "vitest";
import { PostgresTimerFiringStore } from "../../services/observer-manager/src/adapters/postgres/timers/timer-firing-store.ts";
import { useBooks } from "../support/servers/books.ts";

const books = useBooks("timers, ended_timers, timer_claims, timer_owners");
const DAY_MS = 86_400_000;
const COUNT = 20_000;

const putEnded = (ago: string) =>
  books.dataSource.query(
    `INSERT INTO ended_timers (id, name, payload, due_at, expires_at, status, returns, created_at, ended_at)
     SELECT gen_random_uuid(), 'n', '{}', now(), now(), 'Fired', 0, now(), now() - $1::interval - n * interval '1 ms' FROM generate_series(1, $2::int) n`,
    [ago, COUNT],
  );

test("Once the place of what was removed is used again, a look for what is old reads none of the rest", async () => {
  const asked: { sql: string; parameters: unknown[] }[] = [];
  const dataSource = new Proxy(books.dataSource, {
    get: (of, key) =>
      key === "query" &&
      ((sql: string, parameters: unknown[]) => (asked.push({ sql, parameters }), of.query(sql, parameters))),
  });
  const store = new PostgresTimerFiringStore(dataSource);
  await putEnded("8 days");
  await books.dataSource.query("VACUUM ANALYZE ended_timers");
  while ((await store.forget(7 * DAY_MS, 2_000)) > 0);
  await books.dataSource.query("VACUUM ANALYZE ended_timers");
  await putEnded("1 minute");
  await books.dataSource.query("VACUUM ANALYZE ended_timers");
  expect(await store.forget(7 * DAY_MS, 2_000)).toBe(0);

  const { sql, parameters } = asked.at(-1) ?? expect.fail("nothing was asked");
  const [[row], [{ pages }]] = await Promise.all([
    books.dataSource.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, parameters),
    books.dataSource.query("SELECT relpages AS pages FROM pg_class WHERE relname = 'ended_timers'"),
  ]);
  const plan = row["QUERY PLAN"][0].Plan;
  expect(pages).toBeGreaterThan(200);
  expect(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]).toBeLessThan(20);
});
