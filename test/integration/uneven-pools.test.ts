import { expect, test } from "vitest";
import { readStats } from "../../services/observer-manager/src/adapters/postgres/overview/stats-reads.ts";
import { UnevenPools } from "../../services/observer-manager/src/adapters/postgres/overview/uneven-pools.ts";
import { putObserver, putRunning, putService, useBooks } from "../support/servers/books.ts";

const books = useBooks("observers, runs, services, observer_counts");

const start = (name: string, ...types: string[]) =>
  putService(books.dataSource, {
    name,
    worker_count: 40,
    types: types.map((type) => ({ type })),
    features: JSON.stringify(["balance"]),
  });

async function run(serviceId: string, type: string, count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await putRunning(books.dataSource, { type, current_service_id: serviceId });
}

async function uneven(seen = new UnevenPools(books.dataSource)) {
  const { warnings } = await readStats(books.dataSource, () => Promise.resolve(null), seen);
  return warnings.filter(({ code }) => code === "pool-uneven");
}

test("A pool whose services have different types is called uneven where moves make it more even, with as many as can be moved", async () => {
  const first = await start("first", "binance");
  await run(first, "binance", 16);
  await start("second", "kraken");
  expect(await uneven()).toEqual([]); // no rebalance could change that
  await start("third", "binance", "kraken");
  const seen = new UnevenPools(books.dataSource);
  expect(await uneven(seen)).toMatchObject([{ remedy: expect.stringMatching(/^5 moves /) }]); // as many as are to come to the third
  const both = await start("fourth", "binance", "kraken");
  await run(both, "kraken", 30);
  await books.dataSource.query("UPDATE services SET drain = 'cordoned' WHERE name = 'first'");
  expect(await uneven()).toMatchObject([
    { message: expect.stringContaining("fourth runs 30, and its share is 10"), remedy: expect.stringMatching(/^20 moves /) },
  ]);
  expect(await uneven(seen)).toMatchObject([{ remedy: expect.stringMatching(/^5 moves /) }]); // what runs where is not read again at once
});

test("A pool whose services all have the same types is called uneven by its counts", async () => {
  const first = await start("first", "binance", "kraken");
  await start("second", "kraken", "binance");
  await run(first, "binance", 16);
  expect(await uneven()).toMatchObject([{ remedy: expect.stringMatching(/^8 moves make it even/) }]);
});

test("A pool is called uneven although some are to come to it that wait in the full one they are to leave", async () => {
  const first = await start("first", "binance");
  await start("second", "binance");
  await run(first, "binance", 16);
  const coming = { type: "binance", message_pool: "full" };
  for (let i = 0; i < 3; i += 1) await putObserver(books.dataSource, coming);
  expect(await uneven()).toMatchObject([{ remedy: expect.stringMatching(/^8 moves make it even/) }]);
  await putObserver(books.dataSource, { type: "binance" });
  expect(await uneven()).toEqual([]); // that one is on its way
});
