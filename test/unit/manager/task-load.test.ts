import { describe, expect, test } from "vitest";
import {
  type Demand,
  loadPercentOf,
  poolLoadPercentOf,
} from "../../../services/observer-manager/src/domain/tasks/task-load.ts";

/** In a minute 600 tasks of a second each, for ten workers: exactly what they can do. */
const FULL: Demand = {
  arrived: 600,
  overMs: 60_000,
  meanMs: 1_000,
  workers: 10,
  batchSize: 1,
  paused: false,
  maxRunning: null,
  ratePerSecond: null,
};

describe("the load of a type", () => {
  test.each<[string, Partial<Demand>, number | null]>([
    ["is what arrives by what can be done", {}, 100],
    ["rises above 100 where more comes", { arrived: 900 }, 150],
    ["falls as workers come", { workers: 40 }, 25],
    ["counts the places that a limit leaves", { maxRunning: 5 }, 200],
    ["is not lowered by a limit above its workers", { maxRunning: 50 }, 100],
    ["counts how many may start in a second", { meanMs: 1, ratePerSecond: 5 }, 200],
    ["counts calls where many go to one", { batchSize: 20 }, 5],
    ["is 0 where nothing comes, however long one takes", { arrived: 0, meanMs: null }, 0],
    ["is not known before one has run", { meanMs: null }, null],
    ["is not known where nobody has it", { workers: 0 }, null],
    ["is not known while it is paused", { paused: true }, null],
  ])("%s", (_, change, load) => {
    const told = loadPercentOf({ ...FULL, ...change });
    if (load === null) expect(told).toBeNull();
    else expect(told).toBeCloseTo(load);
  });

  test("of a pool is that of all types that share its workers", () => {
    expect(poolLoadPercentOf(10, [FULL, { ...FULL, arrived: 300 }, { ...FULL, arrived: 0, meanMs: null }])).toBeCloseTo(150);
    expect(poolLoadPercentOf(10, [])).toBe(0);
    expect(poolLoadPercentOf(0, [FULL])).toBeNull();
  });
});
