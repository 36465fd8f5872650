import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { PostgresChangeLog } from "../../services/observer-manager/src/adapters/postgres/changes/change-feed.ts";
import type { ChangePosition } from "../../services/observer-manager/src/operations/changes/change-log.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { inTurn } from "../support/runs/turns.ts";
import { putObserver, putService } from "../support/servers/books.ts";

/* A viewer who asked for a thousand tasks of 250 KB each ended the manager for all others. */

const { books, manager } = useHttpManager({ emptied: "tasks, timers, observers, schedules, services" });
const TEXT = "x".repeat(240_000);
const COUNT = 60; // 14 MB
const many = <Of>(of: (i: number) => Of): Of[] => Array.from({ length: COUNT }, (_, i) => of(i));

interface Page {
  items: { id: string }[];
  nextCursor: string | null;
}

/** The ids of each page. */
async function walk(path: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { status, text, body } = await manager.call("GET", `${path}limit=1000${cursor && `&cursor=${cursor}`}`);
    expect(status, text.slice(0, 500)).toBe(200);
    expect(text.length).toBeLessThan(9_000_000);
    const { items, nextCursor } = body as Page;
    pages.push(items.map(({ id }) => id));
    cursor = nextCursor;
  }
  return pages;
}

async function made(method: string, path: string, json: unknown): Promise<void> {
  const { status, text } = await manager.call(method, path, { json });
  expect([200, 201], text.slice(0, 500)).toContain(status);
}

const MADE: Record<string, { list: string; make: () => Promise<unknown> }> = {
  tasks: {
    list: "/api/v1/tasks?",
    make: () => made("POST", "/api/v1/tasks/batch", { tasks: many(() => ({ type: "t", params: { text: TEXT } })) }),
  },
  timers: {
    list: "/api/v1/timers?",
    make: async () => {
      for (let i = 0; i < 4; i += 1) {
        const timer = () => ({ id: randomUUID(), at: "2999-01-01T00:00:00Z", name: "t", payload: TEXT.slice(0, 60_000) });
        await made("POST", "/api/v1/timers/batch", { timers: many(timer) });
      }
    },
  },
  ...Object.fromEntries(
    ["newest", "oldest", "attempts"].map((sort) => [
      `observers by ${sort}`,
      {
        list: `/api/v1/observers?sort=${sort}&`,
        make: () => Promise.all(many((i) => putObserver(books.dataSource, { name: `o-${i}`, params: { text: TEXT } }))),
      },
    ]),
  ),
  "observers that go on with params before those": {
    list: "/api/v1/observers?",
    make: () => {
      const keeps = { specVersion: 1, params: { text: TEXT } };
      const rejected_update = { specVersion: 2, reason: "not now", atMs: 0, keeps };
      return Promise.all(many((i) => putObserver(books.dataSource, { name: `o-${i}`, rejected_update })));
    },
  },
  schedules: {
    list: "/api/v1/schedules?",
    make: async () => {
      for (const i of many((place) => place))
        await made("PUT", `/api/v1/schedules/s${i}`, { cron: "0 0 1 1 *", task: { type: "t", params: { text: TEXT } } });
    },
  },
};

test.each(inTurn(Object.entries(MADE)))(
  "A page of %s that are long ends at 8 MiB, and the next one goes on",
  async (_, { list, make }) => {
    await make();
    const pages = await walk(list);
    const ids = pages.flat();
    expect(pages[0]?.length).toBeGreaterThan(30);
    expect(pages.length).toBeGreaterThan(1);
    expect(ids.length % COUNT).toBe(0);
    expect(new Set(ids).size).toBe(ids.length);
  },
);

test("Changes that are long are read 8 MiB at a time, each of them once, in their order", async () => {
  const log = new PostgresChangeLog(books.dataSource);
  const { latest: from } = await log.horizon();
  const ids: string[] = [];
  for (const i of many((place) => place)) {
    ids.push(await putObserver(books.dataSource, { name: `o-${i}`, params: { text: TEXT } }));
    if (i % 7 === 0) ids.push(await putService(books.dataSource, { name: `s-${i}` }));
  }
  const { latest: to } = await log.horizon();
  const pages: string[][] = [];
  let after: ChangePosition | null = null;
  do {
    const page: Awaited<ReturnType<typeof log.page>> = await log.page({ from, to }, after);
    expect(JSON.stringify(page.changes.map(({ change }) => change)).length).toBeLessThan(9_000_000);
    pages.push(page.changes.map(({ change }) => change.view.id));
    after = page.next;
  } while (after !== null);
  expect(pages.length).toBe(2);
  expect(pages.flat()).toEqual(ids);
});

test("An answer of what became of each shows 32 MiB of them; those behind were not asked, and are when they are sent again", async () => {
  const names = Array.from({ length: 150 }, (_, i) => `o-${i}`); // 36 MB
  for (const name of names) await putObserver(books.dataSource, { name, status: "Failed" });
  await books.dataSource.query("UPDATE observers SET params = $1", [JSON.stringify({ text: TEXT })]);
  const stop = async (some: string[]) => {
    const { status, text, body } = await manager.call("POST", "/api/v1/observers/stop", { json: { names: some } });
    expect(status, text.slice(0, 500)).toBe(200);
    expect(text.length).toBeLessThan(36_000_000);
    const results = body.results as { ref: string; problem?: { code: string } }[];
    expect(results.map(({ ref }) => ref)).toEqual(some);
    return results;
  };
  const results = await stop(names);
  const left = results.flatMap(({ ref, problem }) => (problem === undefined ? [] : [ref]));
  expect(new Set(results.slice(-left.length).map(({ problem }) => problem?.code))).toEqual(new Set(["batch-interrupted"]));
  expect(left).toEqual(names.slice(-left.length));
  expect(left.length).toBeGreaterThan(5);
  expect(left.length).toBeLessThan(20);
  const living = () => books.dataSource.query("SELECT FROM observers WHERE status <> 'Deleted'");
  expect(await living()).toHaveLength(left.length);
  expect((await stop(left)).filter(({ problem }) => problem !== undefined)).toEqual([]);
  expect(await living()).toHaveLength(0);
});

test("Of many tasks that are there already a creation shows 8 MiB; those behind without params and results, and one alone in full", async () => {
  const tasks = many(() => ({ id: randomUUID(), type: "t", params: { text: TEXT } }));
  const ask = async (asked: object[]) => {
    const { status, text, body } = await manager.call("POST", "/api/v1/tasks/batch", { json: { tasks: asked } });
    expect(status, text.slice(0, 500)).toBe(200);
    return { length: text.length, results: (body as { results: Result[] }).results };
  };
  type Result = { status: number; task?: { id: string; outcome: string; params: unknown; output: unknown } };
  await ask(tasks);
  const keyed = many((i) => ({ type: "t", key: `k-${i}`, params: { text: TEXT } }));
  await ask(keyed);

  const repeated = await ask(tasks);
  expect(repeated.length).toBeLessThan(9_000_000);
  expect(new Set(repeated.results.map(({ task }) => task?.outcome))).toEqual(new Set(["exists"]));
  expect(repeated.results.map(({ task }) => task?.id)).toEqual(tasks.map(({ id }) => id));
  expect(repeated.results[0]?.task?.params).toEqual({ text: TEXT });
  expect(repeated.results.at(-1)?.task?.params).toBeNull();

  const others = await ask(tasks.map((task, i) => (i < COUNT - 1 ? task : { ...task, params: { text: "another" } })));
  expect(others.results.map(({ status }) => status)).toEqual(many((i) => (i < COUNT - 1 ? 200 : 409)));

  const met = await ask(many((i) => ({ type: "t", key: `k-${i}`, params: {}, onConflict: "return" })));
  expect(met.length).toBeLessThan(9_000_000);
  expect(new Set(met.results.map(({ task }) => task?.outcome))).toEqual(new Set(["returned"]));

  await manager.call("POST", "/api/v1/tasks/cancel", { json: { ids: tasks.map(({ id }) => id) } });
  const output = JSON.stringify(TEXT.slice(0, 60_000));
  await books.dataSource.query("UPDATE ended_tasks SET status = 'Completed', output = $1", [output]);
  const over = await ask(tasks);
  expect(over.length).toBeLessThan(9_000_000);
  expect(over.results.at(-1)?.task).toMatchObject({ outcome: "exists", output: null });

  const alone = (task: object) => manager.call("POST", "/api/v1/tasks", { json: task });
  const answers = await Promise.all(tasks.map(alone)); // they share transactions
  for (const { status, body } of answers)
    expect([status, (body as { output: string }).output.length]).toEqual([200, 60_000]);
});
