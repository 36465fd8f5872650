import { expect, test } from "vitest";
import {
  type FigureRow,
  overviewOf,
  type TaskStandings,
} from "../../../services/observer-manager/src/domain/tasks/figures-overview.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOW_MS = Date.parse("2026-11-20T09:00:30Z");
const THIS_MINUTE_MS = Date.parse("2026-11-20T09:00:00Z");
const NONE: TaskStandings = { waiting: [], flight: [], able: [], pools: [], limits: [] };

const row = (type: string, changes: Partial<FigureRow> = {}): FigureRow => ({
  atMs: THIS_MINUTE_MS,
  type,
  pool: "default",
  created: 1,
  completed: 1,
  failed: 0,
  cancelled: 0,
  retried: 0,
  ranMs: 100,
  histogram: { 27: 1 },
  ...changes,
});

/** Each tells of every time that its type is looked at. */
function watched<Row extends { type: string }>(rows: readonly Row[], looked: () => void): Row[] {
  return rows.map(({ type, ...rest }) => ({
    ...(rest as Row),
    get type() {
      looked();
      return type;
    },
  }));
}

test("However many types there are, each row of the books is looked at a few times", () => {
  let looks = 0;
  const look = () => (looks += 1);
  const types = Array.from({ length: 1_000 }, (_, index) => `resize-${index}`);
  const minutes = watched(
    types.map((type) => row(type)),
    look,
  );
  const waiting = types.map((type) => ({ type, pool: "default", count: 1, isExact: true, oldestMs: NOW_MS }));
  const flight = types.map((type) => ({ type, sent: 1, running: 1, oldestSentMs: NOW_MS }));
  const able = types.map((type) => ({ type, pool: "default", workers: 2, batchSize: 1 }));
  const limits = types.map((type) => ({
    type,
    paused: false,
    maxRunning: 1,
    minRunning: 0,
    ratePerSecond: null,
    outside: false,
  }));
  const standings: TaskStandings = {
    waiting: watched(waiting, look),
    flight: watched(flight, look),
    able: watched(able, look),
    pools: [{ pool: "default", workers: 2 }],
    limits: watched(limits, look),
  };
  const { items } = overviewOf("minute", NOW_MS, { minutes, bars: minutes, standings });
  expect(items).toHaveLength(1_000);
  expect(looks).toBeLessThan(10 * 5 * types.length);
});

test("What is of one type in several pools is told together, and each pool by what is in it", () => {
  const minutes = [
    row("paint", { created: 3, ranMs: 30_000, histogram: { 60: 1 } }),
    row("paint", { pool: "gpu", completed: 2 }),
    row("paint", { atMs: THIS_MINUTE_MS - 30 * MINUTE_MS, failed: 4 }),
    row("work", { atMs: THIS_MINUTE_MS - HOUR_MS }), // older than the first bar
  ];
  const standings: TaskStandings = {
    waiting: [
      { type: "paint", pool: "default", count: 10_000, isExact: false, oldestMs: NOW_MS - 5_000 },
      { type: "paint", pool: "gpu", count: 2, isExact: true, oldestMs: NOW_MS - 9_000 },
    ],
    flight: [{ type: "paint", sent: 3, running: 4, oldestSentMs: NOW_MS - 7_000 }],
    able: [
      { type: "paint", pool: "default", workers: 2, batchSize: 1 },
      { type: "paint", pool: "gpu", workers: 5, batchSize: 1 },
    ],
    pools: [
      { pool: "default", workers: 2 },
      { pool: "gpu", workers: 5 },
      { pool: "idle", workers: 1 },
    ],
    limits: [{ type: "limited", paused: true, maxRunning: null, minRunning: 0, ratePerSecond: null, outside: false }],
  };
  const { items, pools } = overviewOf("minute", NOW_MS, { minutes, bars: minutes, standings });
  expect(items.map(({ type }) => type)).toEqual(["limited", "paint", "work"]);
  const [limited, paint, work] = items;
  expect(limited).toMatchObject({ waiting: 0, oldestDueAt: null, workers: 0, loadPercent: null });
  expect(paint).toMatchObject({
    waiting: 10_005,
    isWaitingExact: false,
    running: 4,
    oldestDueAt: "2026-11-20T09:00:21.000Z",
    workers: 7,
    lately: { since: "2026-11-20T08:59:00.000Z", created: 4, completed: 3, failed: 0, meanMs: 15_050 },
  });
  expect(paint?.loadPercent).toBeCloseTo((100 * 4 * 15_050) / (7 * 90_000), 6);
  expect(paint?.bars).toHaveLength(60);
  expect(paint?.bars.at(-1)).toEqual({ at: "2026-11-20T09:00:00.000Z", completed: 3, failed: 0 });
  expect(paint?.bars.at(-31)).toEqual({ at: "2026-11-20T08:30:00.000Z", completed: 1, failed: 4 });
  expect(work?.bars.filter(({ completed }) => completed > 0)).toEqual([]);
  expect(pools.map(({ pool }) => pool)).toEqual(["default", "gpu", "idle"]);
  expect(pools[0]?.loadPercent).toBeCloseTo((100 * 3 * 30_000) / (2 * 90_000), 6);
  expect(pools[1]?.loadPercent).toBeCloseTo((100 * 100) / (5 * 90_000), 6);
  expect(pools[2]?.loadPercent).toBe(0);
});

test("What workers outside do is none of a pool's work, but where its own workers do it, too", () => {
  const minutes = [
    row("paint", { created: 5, completed: 5, ranMs: 5 * 10 * MINUTE_MS, histogram: { 76: 5 } }),
    row("paint", { pool: "gpu", created: 5, completed: 5, ranMs: 5 * 10 * MINUTE_MS, histogram: { 76: 5 } }),
    row("work", { ranMs: 9_000 }),
  ];
  const limits = { paused: false, maxRunning: null, minRunning: 0, ratePerSecond: null };
  const standings: TaskStandings = {
    ...NONE,
    able: [
      { type: "work", pool: "default", workers: 10, batchSize: 1 },
      { type: "paint", pool: "gpu", workers: 10, batchSize: 1 },
    ],
    pools: [
      { pool: "default", workers: 10 },
      { pool: "gpu", workers: 10 },
    ],
    limits: [{ type: "paint", ...limits, outside: true }],
  };
  const { pools } = overviewOf("minute", NOW_MS, { minutes, bars: [], standings });
  expect(pools[0]?.loadPercent).toBeCloseTo((100 * 9_000) / (10 * 90_000), 6);
  expect(pools[1]?.loadPercent).toBeCloseTo((100 * 50 * MINUTE_MS) / (10 * 90_000), 6);
});

test("By the hour there are 48 bars, of types too of which nothing was in the last hour", () => {
  const hours = [row("old", { atMs: THIS_MINUTE_MS - 47 * HOUR_MS, completed: 7 })];
  const { items } = overviewOf("hour", NOW_MS, { minutes: [row("paint")], bars: hours, standings: NONE });
  expect(items.map(({ type, bars }) => [type, bars.length, bars[0]?.completed])).toEqual([
    ["old", 48, 7],
    ["paint", 48, 0],
  ]);
  expect(items[0]?.lately).toMatchObject({ since: "2026-11-20T08:00:00.000Z", completed: 0, meanMs: null, p95Ms: null });
});

test("One that is due at no time that can be shown hides no other type's figures", () => {
  const waiting = [Number.NEGATIVE_INFINITY, 9.2e15, NOW_MS].map((oldestMs, index) => {
    return { type: `type-${index}`, pool: "default", count: 1, isExact: true, oldestMs };
  });
  const { items } = overviewOf("minute", NOW_MS, { minutes: [], bars: [], standings: { ...NONE, waiting } });
  expect(items.map(({ oldestDueAt }) => oldestDueAt)).toEqual([
    "0001-01-01T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z",
    "2026-11-20T09:00:30.000Z",
  ]);
});
