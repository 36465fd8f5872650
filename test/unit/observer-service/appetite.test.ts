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

describe("how many a service takes that has to be careful", () => {
  const care = { window: 16, mayGoOn: false };
  const careful = (more: Partial<Circumstances> = {}) => now(0, { memory: [], care, ...more });
  test("is a window, and the next when the broker has answered since it was taken", () => {
    expect(decide({ kind: "none" }, careful(), 0)).toEqual({ kind: "take", window: 16, isWhole: false });
    const spent = taking({ window: 16, taken: 16 });
    expect(decide(spent, careful({ running: 16 }), 9_999)).toBeUndefined();
    const then = careful({ running: 16, care: { window: 32, mayGoOn: true } });
    expect(decide(spent, then, 9_999)).toEqual({ kind: "take", window: 32, isWhole: false });
    expect(decide(taking({ window: 32, taken: 20 }), then, 9_999)).toBeUndefined();
  });
  test("is no more than there are workers free, nor than fits into memory", () => {
    expect(decide({ kind: "none" }, careful({ running: 90 }), 0)).toMatchObject({ window: 10 });
    expect(decide({ kind: "none" }, now(700, { care }), 0)).toMatchObject({ window: 15, isWhole: false });
  });
  test("is all once that is over", () => {
    const over = now(0, { memory: [], running: 60 });
    expect(decide(taking({ window: 32, taken: 32 }), over, 0)).toMatchObject({ kind: "take", window: 40 });
  });
  test("is not one after the other, ten times a second, of a service that is full but for a few", () => {
    const nearlyFull = now(0, { memory: [], running: 999, workers: 1_000 });
    expect(decide(taking({ window: 32, taken: 32 }), nearlyFull, 999)).toBeUndefined();
    expect(decide(taking({ window: 32, taken: 32 }), nearlyFull, 1_000)).toMatchObject({ kind: "take", window: 1 });
  });
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
  test("is none, and says why, of one that begins to take again with workers free and no memory for one more", () => {
    const nearlyFull = now(847, { running: 50 });
    expect(decide({ kind: "none" }, nearlyFull, 0)).toEqual({
      kind: "pause",
      why: "it has 847 of 1000 MiB in use, and one more, at 5.0 MiB each, would be more than 85 %",
    });
    expect(decide({ kind: "none" }, { ...nearlyFull, running: 100 }, 0)).toBeUndefined();
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
