import { describe, expect, test } from "vitest";
import {
  type Appetite,
  type Circumstances,
  decide,
  roomFor,
} from "../../../services/observer-service/src/keeper/intake/appetite.ts";

const MIB = 2 ** 20;
const now = (usedMib: number, more: Partial<Circumstances> = {}): Circumstances => ({
  workers: 100,
  running: 0,
  costBytes: 5 * MIB,
  memory: [{ usedBytes: usedMib * MIB, limitBytes: 1_000 * MIB, of: "it" }],
  ...more,
});
const paused: Appetite = { kind: "paused", sinceMs: 0, why: "full" };
const taking = (more: Partial<Appetite & { kind: "taking" }> = {}): Appetite => ({
  kind: "taking",
  window: 10,
  isWhole: false,
  taken: 10,
  lastTakenAtMs: 0,
  ...more,
});

describe("how many a service takes under WORKER_COUNT=auto", () => {
  test("is all that it may where there is memory for twice of it, once and for all", () => {
    expect(decide({ kind: "none" }, now(100, { workers: 50 }), 0)).toEqual({ kind: "take", window: 50, isWhole: true });
    expect(decide(taking({ isWhole: true, taken: 500 }), now(500, { running: 50 }), 9_999)).toBeUndefined();
  });
  test("is half of what seems to fit, and when that has settled half of the rest", () => {
    expect(decide({ kind: "none" }, now(100), 0)).toEqual({ kind: "take", window: 75, isWhole: false });
    const then = now(500, { running: 75 });
    expect(decide(taking({ window: 75, taken: 75 }), then, 1_000)).toBeUndefined();
    expect(decide(taking({ window: 75, taken: 74 }), then, 9_000)).toBeUndefined();
    expect(decide(taking({ window: 75, taken: 75 }), then, 1_500)).toMatchObject({ kind: "take", window: 25 });
  });
  test("goes by the narrowest of several limits, one that is not known included", () => {
    const memory = [
      { usedBytes: 0, limitBytes: 1_000 * MIB, of: "the group" },
      { usedBytes: 75 * MIB, limitBytes: 100 * MIB, of: "the slots" },
      { usedBytes: 5, limitBytes: Number.POSITIVE_INFINITY, of: "nobody" },
    ];
    expect(roomFor(now(0, { memory }))).toBe(2);
    expect(roomFor(now(0, { memory: [] }))).toBe(100);
    expect(roomFor(now(0, { running: 120 }))).toBe(0);
  });
  test("is none above 85 %, whatever was thought, until it is below 70 %, and not at once", () => {
    expect(decide(taking({ isWhole: true }), now(851, { running: 9 }), 1)).toMatchObject({
      kind: "pause",
      why: "it has 851 of 1000 MiB in use: more than 85 %; it takes observers again below 70 %",
    });
    expect(decide(paused, now(600, { running: 9 }), 4_999)).toBeUndefined();
    expect(decide(paused, now(700, { running: 9 }), 60_000)).toBeUndefined();
    expect(decide(paused, now(699, { running: 9 }), 5_000)).toMatchObject({ kind: "take", window: 15 });
  });
  test("is none when one more would be too many, and says why", () => {
    expect(decide(taking(), now(846, { running: 60 }), 9_000)).toEqual({
      kind: "pause",
      why: "it has 846 of 1000 MiB in use, and one more, at 5.0 MiB each, would be more than 85 %",
    });
  });
  test("is one at least where nothing runs, so that it can be known what one takes", () => {
    expect(decide({ kind: "none" }, now(840, { costBytes: 500 * MIB }), 0)).toMatchObject({ window: 1 });
    expect(decide(paused, now(840, { costBytes: 500 * MIB }), 5_000)).toMatchObject({ window: 1 });
    expect(decide({ kind: "none" }, now(900), 0)).toMatchObject({ kind: "pause" });
  });
  test("stays as it is when all workers are taken", () => {
    expect(decide(taking(), now(100, { running: 100 }), 9_000)).toBeUndefined();
    expect(decide(taking(), now(100, { running: 98 }), 9_000)).toMatchObject({ window: 2, isWhole: false });
  });
});
