import { type FlowStatusName, MAX_FLOW_COUNT } from "@unacked/contracts";
import { beforeAll, expect, test } from "vitest";
import { PostgresFlowStore } from "../../services/observer-manager/src/adapters/postgres/flows/postgres-flow-store.ts";
import { useBooks } from "../support/servers/books.ts";
import { rowsReadBy, statementsOf } from "../support/servers/rows-read.ts";

/* Of flows that are kept there may be hundreds of thousands, and each page that is open asks for those that it shows each 2 s. */

const ROWS = 50_000;
const books = useBooks();

/** The few are the oldest. */
const PUT = `
  INSERT INTO flows (id, name, status, digest, total, completed, created_at, ended_at)
  SELECT gen_random_uuid(), 'nightly', status, '', 1, 1, created_at, CASE WHEN status <> 'Running' THEN created_at END
  FROM (SELECT now() - n * interval '1 s' AS created_at,
          CASE WHEN n > $1::int - 5 THEN 'Failed' WHEN n > $1::int - 10 THEN 'Running' ELSE 'Completed' END AS status
        FROM generate_series(1, $1::int) AS n) rows`;

beforeAll(async () => {
  await books.dataSource.query(PUT, [ROWS]);
  await books.dataSource.query("VACUUM ANALYZE flows");
});

const list = (statuses?: FlowStatusName[], name?: string) =>
  new PostgresFlowStore(books.dataSource).list({ limit: 10, statuses, name });

test("What is seldom is found and counted without a look at all the rest, by its name too", async () => {
  const few = await list(["Failed", "Running"]);
  expect(few.items.map(({ status }) => status)).toEqual([...Array(5).fill("Running"), ...Array(5).fill("Failed")]);
  expect([few.total, few.isTotalExact, few.last]).toEqual([10, true, undefined]);
  const asked = await statementsOf(books, async () => {
    await list(["Failed"]);
    await list(["Failed", "Running"], "nightly");
    await list(["Cancelled"]);
  });
  expect(asked).toHaveLength(6);
  for (const one of asked) expect(await rowsReadBy(books, one), one.sql).toBeLessThanOrEqual(20);
});

test("A page has the newest of all, or of those that there are many of, and reads no more; nothing is counted to the end", async () => {
  const completed = await list(["Completed", "Failed"]);
  expect([completed.items.length, completed.total, completed.isTotalExact]).toEqual([10, MAX_FLOW_COUNT, false]);
  expect((await list()).items).toEqual(completed.items);
  const asked = await statementsOf(books, async () => {
    await list(["Completed", "Failed"]);
    await list();
  });
  const read = await Promise.all(asked.map((one) => rowsReadBy(books, one)));
  for (const rows of read) expect(rows).toBeLessThanOrEqual(MAX_FLOW_COUNT + 10);
  expect(read.filter((rows) => rows <= 30)).toHaveLength(2);
});
