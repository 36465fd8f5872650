import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { moveSome } from "../../services/observer-manager/src/adapters/postgres/balance/move-writes.ts";
import { PostgresBalanceStore } from "../../services/observer-manager/src/adapters/postgres/balance/postgres-balance-store.ts";
import { insert, putRunning, putService, useBooks } from "../support/servers/books.ts";

/* What a clock of PostgreSQL has written that was hours ahead, and was set back since. */

const books = useBooks("observers, runs, services, commands, moves, rebalances");
const HOUR_MS = 3_600_000;
const ahead = (hours: number): Date => new Date(Date.now() + hours * HOUR_MS);

const POOL = "default";
const putRebalance = (columns: Record<string, unknown>) =>
  insert(books.dataSource, "rebalances", {
    ...{ id: randomUUID(), pool: POOL, asked_by: "ana", why: "uneven", planned: 5, begun_at: ahead(5) },
    ...columns,
  });

test("A rebalance whose next step lies hours ahead goes on, and waits a minute from now", async () => {
  const store = new PostgresBalanceStore(books.dataSource);
  await putRebalance({ step_at: ahead(5), waits: "somebody is on the way", waits_since: ahead(5) });
  expect(await store.isAnyDue()).toBe(true);
  expect(await store.step(() => ({ kind: "wait", why: "still" }))).toEqual({ pool: POOL, moved: 0 });
  const written = "SELECT waits_since <= now() AS since, step_at < now() + interval '1 minute' AS soon FROM rebalances";
  expect(await books.dataSource.query(written)).toEqual([{ since: true, soon: true }]);
  expect(await store.isAnyDue()).toBe(false);
});

test("Those that ended hours ahead are over for long, and the next one is the last and is kept", async () => {
  const store = new PostgresBalanceStore(books.dataSource);
  for (let i = 0; i < 20; i++) await putRebalance({ begun_at: ahead(5 + i), ended_at: ahead(6 + i), outcome: "cancelled" });
  expect((await store.lastOf(POOL))?.endedAgoMs).toBeGreaterThan(HOUR_MS);
  expect(await store.begin({ pool: POOL, by: "auto", why: "uneven", planned: 3 })).toMatchObject({
    by: "auto",
    endedAt: null,
  });
  await store.step(() => ({ kind: "end", outcome: "even", why: null }));
  expect(await store.lastOf(POOL)).toMatchObject({ by: "auto", outcome: "even" });
});

test.each([
  ["hours ahead, is moved again", ahead(5), 1],
  ["a minute ago, stays", ahead(-1 / 60), 0],
])("One that was moved %s", async (_, askedAt, moved) => {
  const serviceId = await putService(books.dataSource);
  const observerId = await putRunning(books.dataSource, { current_service_id: serviceId });
  await insert(books.dataSource, "moves", {
    run_id: randomUUID(),
    observer_id: observerId,
    asked_by: "ana",
    why: "",
    asked_at: askedAt,
  });
  const some = { serviceId, type: "ticker", count: 1 };
  expect(await books.dataSource.transaction((tx) => moveSome(tx, some, { by: "ana", why: "uneven" }))).toBe(moved);
});
