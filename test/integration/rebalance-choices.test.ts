import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { PostgresBalanceStore } from "../../services/observer-manager/src/adapters/postgres/balance/postgres-balance-store.ts";
import { decideStep } from "../../services/observer-manager/src/operations/balance/next-step.ts";
import { insert, putRunning, putService, useBooks } from "../support/servers/books.ts";

/* Services that know different types: what moves is of one choice of types at a time. */

const books = useBooks("observers, runs, services, commands, observer_counts, moves, rebalances");

const start = (...types: string[]) =>
  putService(books.dataSource, {
    worker_count: 100,
    types: types.map((type) => ({ type })),
    features: JSON.stringify(["balance"]),
  });

async function run(serviceId: string, type: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i += 1) ids.push(await putRunning(books.dataSource, { type, current_service_id: serviceId }));
  return ids;
}

const moveLately = async (observerIds: readonly string[]): Promise<void> => {
  for (const observer_id of observerIds)
    await insert(books.dataSource, "moves", {
      run_id: randomUUID(),
      observer_id,
      asked_by: "ana",
      why: "",
      asked_at: new Date(),
    });
};

test("Where all of a step's first choice were moved lately, it moves those of the next; with none left it has stalled", async () => {
  const store = new PostgresBalanceStore(books.dataSource);
  const full = await start("ticker", "process");
  const ofTicker = await start("ticker");
  await start("process");
  const tickers = await run(full, "ticker", 40);
  const processes = await run(full, "process", 20);
  await moveLately(tickers);
  await store.begin({ pool: "default", by: "ana", why: "uneven", planned: 40 });
  expect(await store.step(decideStep)).toEqual({ pool: "default", moved: 5 });
  const moving = "SELECT DISTINCT type FROM observers o JOIN commands c ON c.observer_id = o.id WHERE c.kind = 'move-run'";
  expect(await books.dataSource.query(moving)).toEqual([{ type: "process" }]);
  const aside = "SELECT service_id FROM commands WHERE kind = 'step-aside'";
  expect(await books.dataSource.query(aside)).toEqual([{ service_id: ofTicker }]);
  await books.dataSource.query("DELETE FROM commands");
  await books.dataSource.query("UPDATE rebalances SET step_at = now()");
  await moveLately(processes);
  expect(await store.step(decideStep)).toEqual({ pool: "default", moved: 0 });
  expect(await store.lastOf("default")).toMatchObject({ outcome: "stalled", moved: 5 });
});
