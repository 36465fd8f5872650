import { expect, test } from "vitest";
import { readStandings } from "../../services/observer-manager/src/adapters/postgres/balance/pool-standings.ts";
import { foldCounts } from "../../services/observer-manager/src/adapters/postgres/observers/observer-counts.ts";
import { putObserver, putRunning, putService, useBooks } from "../support/servers/books.ts";
import { rowsReadBy, statementsOf } from "../support/servers/rows-read.ts";

const books = useBooks("observers, runs, services, observer_counts");

test("A service rests for now as it is not heard of, or takes none although it has workers free; not where it was told to, or has none free", async () => {
  const start = (name: string, columns: object) => putService(books.dataSource, { name, worker_count: 1, ...columns });
  const slow = { not_consuming: "it is slow" };
  await start("open", {});
  await start("suspect", { state: "Suspect" });
  await start("slow", slow);
  await start("cordoned", { ...slow, drain: "cordoned" });
  await start("drains", { state: "Suspect", drain: "begun" });
  const full = await start("full", slow);
  await putRunning(books.dataSource, { current_service_id: full });
  const standing = (await readStandings(books.dataSource)).get("default");
  expect(Object.fromEntries(standing?.services.map(({ name, restsFor }) => [name, restsFor]) ?? [])).toEqual({
    open: null,
    suspect: "is not heard of",
    slow: "takes none for now: it is slow",
    cordoned: null,
    drains: null,
    full: null,
  });
});

test("Who waits is on the way where a service that takes work has the type and a worker free, and not where all that have it are full", async () => {
  const knows = (...types: string[]) => ({ worker_count: 1, types: types.map((type) => ({ type })) });
  const full = await putService(books.dataSource, { name: "full", ...knows("rare", "ticker") });
  await putService(books.dataSource, { name: "empty", ...knows("ticker") });
  await putRunning(books.dataSource, { type: "ticker", current_service_id: full });
  await putObserver(books.dataSource, { type: "rare" });
  const awaiting = async () => (await readStandings(books.dataSource)).get("default")?.awaiting;
  expect(await awaiting()).toEqual(new Map());
  await putObserver(books.dataSource, { type: "ticker" });
  expect(await awaiting()).toEqual(new Map([["ticker", 1]]));
  await putService(books.dataSource, { name: "cordoned", drain: "cordoned", ...knows("rare") });
  await putService(books.dataSource, { name: "slow", not_consuming: "it is slow", ...knows("rare") });
  expect(await awaiting()).toEqual(new Map([["ticker", 1]]));
  await putService(books.dataSource, { name: "free", ...knows("rare") });
  expect(await awaiting()).toEqual(
    new Map([
      ["rare", 1],
      ["ticker", 1],
    ]),
  );
});

test("How a pool stands in which nobody waits is told without a look at those that wait in others", async () => {
  await putService(books.dataSource, {});
  const waiting = 200;
  for (let i = 0; i < waiting; i += 1) await putObserver(books.dataSource, { name: `o-${i}`, pool: "elsewhere" });
  await foldCounts(books.dataSource);
  const asked = await statementsOf(books, async () => void (await readStandings(books.dataSource, "default")));
  const [ofThoseThatWait] = asked.filter(({ sql }) => sql.includes("message_pool"));
  if (ofThoseThatWait === undefined) throw new Error("nobody asked for those that wait");
  expect(await rowsReadBy(books, ofThoseThatWait)).toBeLessThan(waiting);
});
