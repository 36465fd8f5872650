import { newMessageId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { PostgresRetentionStore } from "../../services/observer-manager/src/adapters/postgres/books/retention-store.ts";
import { keepUnapplied } from "../../services/observer-manager/src/adapters/postgres/books/unapplied-events.ts";
import type { KeptEvent } from "../../services/observer-manager/src/operations/books/books-store.ts";
import { useBooks } from "../support/servers/books.ts";

const books = useBooks("errors, unapplied_events");

const put = (reason: string, count: number) =>
  books.dataSource.query(
    `INSERT INTO errors (reason, detail, error_group, queue, reporter, body, body_bytes)
     SELECT $1, n::text, 'one', 'q', 'somebody', '', 0 FROM generate_series(1, $2::int) n`,
    [reason, count],
  );

const kept = (): KeptEvent => ({
  error: {
    reason: "unreadable",
    detail: "kept",
    queue: "q",
    messageId: newMessageId(),
    reporter: "somebody",
    body: "",
    bodyBytes: 0,
  },
  observerIds: [],
  batch: "{}",
});

test("What is kept for a manager that understands it stays, however much comes behind it", async () => {
  await books.dataSource.transaction((tx) => keepUnapplied(tx, [kept()]));
  await put("unreadable", 60);
  expect(await new PostgresRetentionStore(books.dataSource).removeExcessErrors(50, 100)).toBe(10);
  expect(await books.dataSource.query("SELECT count(*)::int FROM unapplied_events")).toEqual([{ count: 1 }]);
});

test("Of what nobody could read the newest are kept, and all from which something lost can be recorded", async () => {
  const store = new PostgresRetentionStore(books.dataSource);
  await put("unreadable", 30);
  await put("unknown-observer", 5);
  await put("unreadable", 20);
  expect(await store.removeExcessErrors(50, 10)).toBe(5);
  expect(await store.removeExcessErrors(50, 10)).toBe(0);
  expect(await store.removeExcessErrors(20, 15)).toBe(15);
  expect(await store.removeExcessErrors(20, 15)).toBe(10);
  const left = await books.dataSource.query(
    "SELECT reason, count(*)::int, min(detail::int) FROM errors GROUP BY reason ORDER BY 1",
  );
  expect(left).toEqual([
    { reason: "unknown-observer", count: 5, min: 1 },
    { reason: "unreadable", count: 20, min: 1 },
  ]);
});

test("Figures of runs that are older than a day go some at a time", async () => {
  await books.dataSource.query(
    `INSERT INTO run_figures (at, type, service_id, starts, failures, interruptions, emits)
     SELECT now() - hours * interval '1 hour', 'ticker', gen_random_uuid(), 1, 0, 0, 0 FROM unnest('{0,24,26,50,60}'::int[]) hours`,
  );
  const store = new PostgresRetentionStore(books.dataSource);
  expect([await store.forgetFigures(2), await store.forgetFigures(2), await store.forgetFigures(2)]).toEqual([2, 1, 0]);
});
