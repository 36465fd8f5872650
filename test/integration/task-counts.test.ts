import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { countTasks } from "../../services/observer-manager/src/adapters/postgres/tasks/figures/task-counts.ts";
import { useBooks } from "../support/servers/books.ts";

/* By what autoscalers and alerts go: how many workers would leave no task waiting for one, and for how long one has. */

const books = useBooks("tasks, task_types, task_services");

const sql = (text: string, parameters: unknown[] = []): Promise<unknown[]> => books.dataSource.query(text, parameters);

beforeEach(async () => {
  const types = JSON.stringify([{ type: "paint" }, { type: "mail" }, { type: "index", batch: 100 }]);
  await sql(
    `INSERT INTO task_services (id, name, pool, generation, workers, draining, types) VALUES ($1, 's', 'default', 1, 4, false, $2::jsonb)`,
    [randomUUID(), types],
  );
});

const put = (type: string, status: "Ready" | "Running", count: number, dueAgoS = 1, pool = "default"): Promise<unknown[]> =>
  sql(
    `INSERT INTO tasks (id, type, params, pool, priority, due_at, status, send_id, sent_at, run_id, started_at, sends)
     SELECT gen_random_uuid(), $1, '{}', $5, 0, now() - $4 * interval '1 second', $2,
       CASE WHEN $2 = 'Running' THEN gen_random_uuid() END, CASE WHEN $2 = 'Running' THEN now() END,
       CASE WHEN $2 = 'Running' THEN gen_random_uuid() END, CASE WHEN $2 = 'Running' THEN now() END, 0
     FROM generate_series(1, $3::int)`,
    [type, status, count, dueAgoS, pool],
  );

const limit = (type: string, limits: { paused?: boolean; maxRunning?: number; rate?: number }): Promise<unknown[]> =>
  sql("INSERT INTO task_types (type, paused, max_running, min_running, rate_per_second) VALUES ($1, $2, $3, 0, $4)", [
    type,
    limits.paused ?? false,
    limits.maxRunning ?? null,
    limits.rate ?? null,
  ]);

const counted = async (pool = "default") => (await countTasks(books.dataSource)).pools.find((one) => one.pool === pool);

test("Without limits each task that is due or runs wants a worker, and of a type with batches each call", async () => {
  await put("paint", "Ready", 50);
  await put("paint", "Running", 4);
  await put("index", "Ready", 250);
  expect(await counted()).toMatchObject({ workers: 4, wanted: 57 });
});

test("What is paused wants no worker and waits for none, but for what of it still runs", async () => {
  await limit("paint", { paused: true });
  await put("paint", "Ready", 5_000, 86_400);
  await put("paint", "Running", 2);
  await put("mail", "Ready", 3, 20);
  const { wanted, oldestReadyS = 0 } = (await counted()) ?? {};
  expect(wanted).toBe(5);
  expect(oldestReadyS).toBeGreaterThan(19);
  expect(oldestReadyS).toBeLessThan(600);
});

test("What is worked outside alone wants no worker, and waits by itself for somebody to take it", async () => {
  await sql(
    "INSERT INTO task_types (type, paused, min_running, outside) VALUES ('wall', false, 0, true), ('sign', true, 0, true), ('mail', false, 0, true)",
  );
  await put("wall", "Ready", 3, 400);
  await put("sign", "Ready", 1, 86_400);
  await put("mail", "Ready", 1, 700);
  await put("wall", "Ready", 1, 20, "walls");
  const { wanted, oldestReadyS, oldestUntakenS } = (await counted()) ?? expect.fail();
  expect(wanted).toBe(1);
  expect(Math.round(oldestReadyS / 100)).toBe(7);
  expect(Math.round(oldestUntakenS / 100)).toBe(4);
  const walls = (await counted("walls")) ?? expect.fail();
  expect(walls).toMatchObject({ workers: 0, wanted: 0, oldestReadyS: 0 });
  expect(walls.oldestUntakenS).toBeGreaterThan(19);
});

test("What no service of the pool has wants no worker there, as more of the same would not have it, and is told as waiting", async () => {
  await put("carve", "Ready", 400, 700);
  await put("carve", "Running", 2);
  await put("mail", "Ready", 3);
  const { wanted, oldestReadyS } = (await counted()) ?? expect.fail();
  expect(wanted).toBe(2 + 3);
  expect(Math.round(oldestReadyS / 100)).toBe(7);
});

test("Where no service lives that takes tasks, all that waits wants a worker: the first ones may have its type", async () => {
  await put("carve", "Ready", 400, 1, "empty");
  expect(await counted("empty")).toMatchObject({ workers: 0, wanted: 400 });
  await sql("UPDATE task_services SET draining = true");
  await put("carve", "Ready", 7);
  expect(await counted()).toMatchObject({ workers: 0, wanted: 7 });
});

test("No more want a worker than maxRunning lets start, in all pools together, or ratePerSecond within a second", async () => {
  await limit("paint", { maxRunning: 10 });
  await limit("mail", { rate: 7 });
  await put("paint", "Ready", 5_000);
  await put("paint", "Running", 3);
  await put("paint", "Running", 2, 1, "another");
  await put("mail", "Ready", 5_000);
  await put("mail", "Running", 1);
  expect(await counted()).toMatchObject({ wanted: 3 + 5 + 1 + 7 });
  expect(await counted("another")).toMatchObject({ wanted: 2 });
});

test("Where more run than a limit that was lowered since, those that run want their workers", async () => {
  await limit("paint", { maxRunning: 1 });
  await put("paint", "Ready", 100);
  await put("paint", "Running", 4);
  expect(await counted()).toMatchObject({ wanted: 4 });
});
