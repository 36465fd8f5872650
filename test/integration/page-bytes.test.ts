import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { inTurn } from "../support/runs/turns.ts";
import { putObserver } from "../support/servers/books.ts";

/* A viewer who asked for a thousand tasks of 250 KB each ended the manager for all others. */

const { books, manager } = useHttpManager({ emptied: "tasks, timers, observers, schedules" });
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
