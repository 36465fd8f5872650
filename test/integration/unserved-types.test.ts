import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readStandings } from "../../services/observer-manager/src/adapters/postgres/balance/pool-standings.ts";
import { unservedTypes } from "../../services/observer-manager/src/adapters/postgres/overview/unserved-types.ts";
import { viewOf } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { putObserver, putService, useBooks } from "../support/servers/books.ts";

const books = useBooks();
const query = (sql: string, parameters: unknown[] = []) => books.dataSource.query(sql, parameters);

const named = async () =>
  (await unservedTypes(books.dataSource)).map(
    ({ kind, pool, type, count, elsewhere }) => `${count} ${kind} ${type} in ${pool}, elsewhere ${elsewhere.join(" ")}`,
  );

const types = (...names: string[]) => JSON.stringify(names.map((type) => ({ type })));

const wait = (pool: string, type: string, status: string, count: number) =>
  query("INSERT INTO observer_counts (pool, type, status, count) VALUES ($1, $2, $3, $4)", [pool, type, status, count]);

const startService = (pool: string, ...names: string[]) =>
  query(
    `INSERT INTO services (id, name, pool, state, generation, last_seq, worker_count, types) VALUES ($1, 's', $2, 'Alive', 1, 1, 1, $3)`,
    [randomUUID(), pool, types(...names)],
  );

test("Observers that wait are named where their pool has services, and none of them has the type", async () => {
  await wait("default", "kraken", "Created", 2);
  await wait("default", "kraken", "Redistributing", 3);
  await wait("default", "kraken", "Processing", 7);
  await wait("default", "binance", "Created", 1);
  await wait("empty", "kraken", "Created", 9); // there the pool is without a service, which has a warning of its own
  await wait("default", "gone", "Redistributing", 1);
  await wait("default", "gone", "Redistributing", -1);
  await startService("default", "binance", "coinbase");
  expect(await named()).toEqual(["5 observer kraken in default, elsewhere "]);
  await startService("eu", "kraken");
  expect(await named()).toEqual(["5 observer kraken in default, elsewhere eu"]);
  await startService("default", "kraken");
  expect(await named()).toEqual([]);
});

test("Observers that wait are named where only services that drain or are cordoned have the type, with these; no rebalance waits for them", async () => {
  await wait("mixed", "gpu", "Redistributing", 2);
  const start = (name: string, drain: string, type: string) =>
    putService(books.dataSource, { name, pool: "mixed", drain, types: [{ type }] });
  await start("gpu-1", "cordoned", "gpu");
  const ofPool = async () => (await unservedTypes(books.dataSource)).filter(({ pool }) => pool === "mixed");
  const awaited = async () => (await readStandings(books.dataSource, "mixed")).get("mixed")?.awaiting;
  expect(await ofPool()).toEqual([]); // nobody there takes any work, which has a warning of its own
  await start("cpu-1", "none", "cpu");
  expect(await ofPool()).toMatchObject([{ type: "gpu", count: 2, resting: ["gpu-1"], elsewhere: [] }]);
  expect(await awaited()).toEqual(new Map());
  await start("gpu-2", "none", "gpu");
  expect(await ofPool()).toEqual([]);
  expect(await awaited()).toEqual(new Map([["gpu", 2]]));
});

test("No rebalance waits for observers that are to leave another pool's queue, and wait there, as it is full", async () => {
  const start = (name: string) => putService(books.dataSource, { name, pool: "new", types: [{ type: "ticker" }] });
  const awaited = async () => (await readStandings(books.dataSource, "new")).get("new")?.awaiting;
  await start("new-1");
  await putObserver(books.dataSource, { pool: "new" });
  for (let i = 0; i < 3; i += 1) await putObserver(books.dataSource, { pool: "new", message_pool: "full" });
  expect(await awaited()).toEqual(new Map([["ticker", 1]]));
});

test("Tasks that wait are named where nobody in their pool works them off, unless they are paused or worked outside", async () => {
  for (const type of ["resize", "resize", "served", "paused", "outside"])
    await query("SELECT unacked_create_task($1, '{}', pool => $2)", [type, "tasks"]);
  await query(
    "INSERT INTO task_types (type, min_running, paused, outside) VALUES ('paused', 0, true, false), ('outside', 0, false, true)",
  );
  const startWorkers = (pool: string, workers: number, ...names: string[]) =>
    query(
      `INSERT INTO task_services (id, generation, name, pool, workers, draining, types) VALUES ($1, 1, 's', $2, $3, false, $4)`,
      [randomUUID(), pool, workers, types(...names)],
    );
  await startWorkers("tasks", 1, "served");
  await startWorkers("tasks", 0, "resize");
  expect(await named()).toEqual(["2 task resize in tasks, elsewhere "]);
  await startWorkers("eu", 1, "resize");
  expect(await named()).toEqual(["2 task resize in tasks, elsewhere eu"]);
  await startWorkers("tasks", 1, "resize");
  expect(await named()).toEqual([]);
});

test("While no service can be heard, as the broker is away, none is without its types; one that is gone, or heard of otherwise, is", async () => {
  await query("SELECT unacked_create_task('shrink', '{}', pool => 'alone')");
  const [task] = await query("SELECT id FROM tasks WHERE type = 'shrink'");
  const id = randomUUID();
  await query(
    `INSERT INTO services (id, name, pool, state, generation, last_seq, worker_count, types, last_seen_at)
     VALUES ($1, 's', 'alone', 'Alive', 1, 1, 1, '[]', now() - interval '2 minutes')`,
    [id],
  );
  await query(
    `INSERT INTO task_services (id, generation, name, pool, workers, draining, types, seen_at)
     VALUES ($1, 1, 's', 'alone', 2, false, $2, now() - interval '2 minutes')`,
    [id, types("shrink")],
  );
  const waitsFor = async () => (await viewOf(books.dataSource, task.id))?.waitsFor;
  expect([await named(), await waitsFor()]).toEqual([[], "turn"]);
  await query("UPDATE services SET last_seen_at = now() WHERE id = $1", [id]); // heard of, and not with tasks
  expect([await named(), await waitsFor()]).toEqual([["1 task shrink in alone, elsewhere "], "service"]);
  await query(
    "UPDATE services SET last_seen_at = now() - interval '2 minutes', state = 'Gone', ended_at = now() WHERE id = $1",
    [id],
  );
  expect([await named(), await waitsFor()]).toEqual([["1 task shrink in alone, elsewhere "], "service"]);
});
