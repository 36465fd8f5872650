import { expect, test } from "vitest";
import { readStandings } from "../../services/observer-manager/src/adapters/postgres/balance/pool-standings.ts";
import { putRunning, putService, useBooks } from "../support/servers/books.ts";

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
