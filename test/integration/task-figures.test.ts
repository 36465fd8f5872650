import type { TaskFigures, TaskFiguresNow, TaskTypeFigures } from "@unacked/contracts";
import { beforeEach, expect, test } from "vitest";
import { PostgresTaskFigureStore } from "../../services/observer-manager/src/adapters/postgres/tasks/figures/task-figure-store.ts";
import { bucketInSql } from "../../services/observer-manager/src/domain/tasks/running-times.ts";
import { eventually } from "../support/eventually.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* What is counted by REST and by SQL, on a real database; folded by hand, as managers do every few seconds. */

const { books, manager } = useHttpManager({
  emptied: "tasks, ended_tasks, task_types, task_services, audit, task_figures, task_figure_deltas",
});

let takers: Takers;
let store: PostgresTaskFigureStore;

const sql = <Row extends object>(text: string, parameters: unknown[] = []): Promise<Row[]> =>
  books.dataSource.query(text, parameters);

beforeEach(async () => {
  takers = new Takers((method, path, options) => manager.call(method, path, options));
  store = new PostgresTaskFigureStore(books.dataSource);
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { outside: true } });
});

const figuresOf = async (query = "", type = "paint"): Promise<TaskFigures["items"]> => {
  const { status, body, text } = await manager.call("GET", `/api/v1/task-types/${type}/figures?${query}`);
  expect(status, text).toBe(200);
  return body.items;
};
const now = async (query = ""): Promise<TaskFiguresNow> => {
  const { status, body, text } = await manager.call("GET", `/api/v1/task-figures?${query}`);
  expect(status, text).toBe(200);
  return body;
};
const nowOf = async (type: string, query = ""): Promise<TaskTypeFigures> =>
  (await now(query)).items.find((item) => item.type === type) ?? expect.fail(`${type} is not told of`);

/** All minutes together, as a test may last over the end of one. */
async function countsOf(query = "") {
  const items = await figuresOf(query);
  const sum = (of: (item: TaskFigures["items"][number]) => number) => items.reduce((total, item) => total + of(item), 0);
  return {
    created: sum((item) => item.created),
    completed: sum((item) => item.completed),
    failed: sum((item) => item.failed),
    cancelled: sum((item) => item.cancelled),
    retried: sum((item) => item.retried),
  };
}

test("Every create and every end is counted once, before and after it is folded, by minute and by hour", async () => {
  const { id } = await takers.create();
  await takers.create({ id }); // the same request once more
  for (let i = 0; i < 5; i += 1) await takers.create({ params: { i } });
  await sql("SELECT unacked_create_task('paint')");
  await sql("BEGIN; SELECT unacked_create_task('paint'); ROLLBACK");
  const held = await takers.take({ count: 5 });
  for (const task of held.slice(0, 2)) await takers.complete(task);
  await takers.complete(held[0] ?? expect.fail()); // told again
  await takers.fail(held[2] ?? expect.fail(), { retryable: false });
  await takers.fail(held[3] ?? expect.fail(), { retryInMs: 60_000 });
  const [waiting] = await takers.take();
  await takers.extend(waiting ?? expect.fail());
  await manager.call("DELETE", `/api/v1/tasks/${(await takers.create({ startAt: "2999-01-01T00:00:00Z" })).id}`);
  await manager.call("POST", `/api/v1/tasks/${held[2]?.id}/retry`);
  const counts = { created: 8, completed: 2, failed: 1, cancelled: 1, retried: 2 };
  for (const folded of [0, 1, 2]) {
    for (const by of ["minute", "hour"]) expect(await countsOf(`by=${by}`), `${by}, folded ${folded} times`).toEqual(counts);
    const { count } = (await sql<{ count: number }>("SELECT count(*)::int AS count FROM task_figure_deltas"))[0] ?? {};
    expect(await store.fold(1_000)).toBe(count);
  }
  // One that is over already and is asked for again was created once.
  await takers.create({ id: held[0]?.id, params: held[0]?.params });
  expect(await countsOf()).toEqual(counts);
});

test.runIf(isTurnOf(2))("Three fold at once while others write: nothing is lost, and nothing counts twice", async () => {
  const stores = [store, new PostgresTaskFigureStore(books.dataSource), new PostgresTaskFigureStore(books.dataSource)];
  let isOver = false;
  const folds = stores.map(async (one) => {
    let folded = 0;
    while (!isOver) folded += await one.fold(7);
    return folded;
  });
  const work = async () => {
    for (let i = 0; i < 50; i += 1) {
      await takers.create();
      for (const task of await takers.take()) await takers.complete(task);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  for (const task of await takers.take({ count: 100 })) await takers.complete(task);
  const read = await countsOf();
  isOver = true;
  const folded = await Promise.all(folds);
  while ((await store.fold(100)) > 0);
  expect(read).toEqual({ created: 200, completed: 200, failed: 0, cancelled: 0, retried: 0 });
  expect(await countsOf("by=hour")).toEqual(read);
  expect(Math.min(...folded)).toBeGreaterThan(0);
});

test("The bounds of the buckets of running times grow by the fourth root of two, from below 1 ms to days", async () => {
  const times = [0, 0.5, 0.99, 0.999, 1, 1.18, 1.19, 2, 1_000, 60_000, 3_600_000, 1e12];
  const rows = await sql<{ bucket: number }>(`SELECT ${bucketInSql("ms")} AS bucket FROM unnest($1::float8[]) AS ms`, [
    times,
  ]);
  expect(rows.map(({ bucket }) => bucket)).toEqual([0, 0, 0, 0, 1, 1, 2, 5, 40, 64, 88, 120]);
});

test("Running times: mean and p95 are those of the attempts", async () => {
  for (const ms of [1_000, 1_000, 1_000, 5_000]) {
    await takers.create();
    const task = await takers.takeOne();
    await sql("UPDATE tasks SET started_at = clock_timestamp() - $1 * interval '1 ms' WHERE id = $2", [ms, task.id]);
    expect((await takers.complete(task)).status).toBe(200);
  }
  const { lately } = await nowOf("paint");
  expect(lately.meanMs).toBeGreaterThan(1_990);
  expect(lately.meanMs).toBeLessThan(4_000);
  expect(lately.p95Ms).toBeGreaterThan(5_000 / 1.19);
  expect(lately.p95Ms).toBeLessThan(5_000 * 2);
});

test("The one that waits longest is told also where more than are counted come before it", async () => {
  await putReady(books.dataSource, 10_001, { priority: 5 });
  for (const [priority, ageS] of [
    [0, 600],
    [-3, 7_200],
    [-1_000, 60],
  ] as const) {
    await putReady(books.dataSource, 1, { priority });
    await sql("UPDATE tasks SET due_at = now() - $1 * interval '1 s' WHERE priority = $2", [ageS, priority]);
  }
  const { at, items } = await now();
  expect(items).toMatchObject([{ type: "paint" }, { type: "work", waiting: 10_000, isWaitingExact: false }]);
  const waitedMs = Date.parse(at) - Date.parse(items[1]?.oldestDueAt ?? "");
  expect(Math.abs(waitedMs - 7_200_000)).toBeLessThan(20_000);
});

test("How it stands: what waits and since when, what runs, who can, and the load, red where more comes than can be done", async () => {
  await putTaskService(books.dataSource, { types: ["work", "paint"], workers: 10 });
  await putReady(books.dataSource, 12_000);
  await sql("UPDATE tasks SET due_at = due_at - interval '500 s'");
  await takers.create();
  const held = await takers.takeOne();
  const at = await now();
  const work = at.items.find(({ type }) => type === "work");
  expect(work).toMatchObject({ waiting: 10_000, isWaitingExact: false, running: 0, workers: 10 });
  expect(Date.parse(at.at) - Date.parse(work?.oldestDueAt ?? "")).toBeGreaterThan(480_000);
  expect(at.items.find(({ type }) => type === "paint")).toMatchObject({
    waiting: 0,
    running: 1,
    oldestDueAt: null,
    workers: 10,
  });
  await sql("UPDATE tasks SET started_at = clock_timestamp() - interval '40 s' WHERE id = $1", [held.id]);
  await takers.complete(held);
  // Of each 40 s: 15 to 30 a minute are what ten workers can do.
  for (let i = 0; i < 80; i += 1) await takers.create();
  const after = await now();
  const paint = after.items.find(({ type }) => type === "paint");
  expect(paint?.loadPercent).toBeGreaterThan(200);
  expect(after.pools).toEqual([{ pool: "default", workers: 10, loadPercent: expect.closeTo(paint?.loadPercent ?? 0, 3) }]);
  expect(paint?.bars).toHaveLength(60);
  expect((await nowOf("paint", "by=hour")).bars).toHaveLength(48);
  const bars = (await nowOf("paint", "by=hour")).bars.slice(-2); // an hour may end meanwhile
  expect([bars.reduce((sum, bar) => sum + bar.completed, 0), bars.reduce((sum, bar) => sum + bar.failed, 0)]).toEqual([
    1, 0,
  ]);
});

test.runIf(isTurnOf(1))(
  "Beside half a million that wait it is told how it stands in the time of a look",
  async () => {
    for (const type of ["work", "other", "third", "fourth", "fifth"]) await putReady(books.dataSource, 100_000, { type });
    await sql("ANALYZE tasks");
    const took: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const beganMs = performance.now();
      expect((await now()).items.filter(({ waiting }) => waiting === 10_000)).toHaveLength(5);
      took.push(performance.now() - beganMs);
    }
    const median = took.toSorted((a, b) => a - b)[2] ?? 0;
    console.log(`beside 500,000 that wait: ${median.toFixed(0)} ms`);
    expect(median).toBeLessThan(2_000);
  },
  240_000,
);

test("Minutes are forgotten after two days, hours after thirty, and what nobody knows is not told of", async () => {
  const put = (span: string, age: string) =>
    sql(
      `INSERT INTO task_figures (span, at, type, pool, created, completed, failed, cancelled, retried, ran_ms, histogram)
       VALUES ($1, date_trunc($1, now() - $2::interval), 'paint', 'default', 1, 0, 0, 0, 0, 0, '{}')`,
      [span, age],
    );
  for (const [span, age] of [
    ["minute", "47 hours"],
    ["minute", "49 hours"],
    ["hour", "29 days"],
    ["hour", "31 days"],
  ] as const)
    await put(span, age);
  expect(await store.forgetOld(10)).toBe(2);
  expect(await figuresOf("by=minute&since=2020-01-01T00:00:00Z")).toHaveLength(1);
  expect(await figuresOf("by=hour&since=2020-01-01T00:00:00Z")).toHaveLength(1);
  expect(await figuresOf("")).toEqual([]);
  expect((await manager.call("GET", "/api/v1/task-types/nobodys/figures")).body.code).toBe("task-type-not-found");
  expect((await manager.call("GET", "/api/v1/task-types/paint/figures?by=year")).body.code).toBe("invalid-query");
  await eventually(async () => expect(await figuresOf("pool=elsewhere&since=2020-01-01T00:00:00Z")).toEqual([]));
});

test("What is too old goes some at a time, minutes before hours, so that no statement of it takes too long", async () => {
  await sql(
    `INSERT INTO task_figures (span, at, type, pool, created, completed, failed, cancelled, retried, ran_ms, histogram)
     SELECT span, date_trunc(span, now() - interval '40 days'), 't' || n, 'default', 1, 0, 0, 0, 0, 0, '{}'
     FROM unnest('{minute,hour}'::text[]) span, generate_series(1, 3) n`,
  );
  expect([await store.forgetOld(4), await store.forgetOld(4), await store.forgetOld(4)]).toEqual([4, 2, 0]);
});
