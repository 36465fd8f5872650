import { expect, test } from "vitest";
import { DueFloor } from "../../../services/observer-manager/src/domain/due-floor.ts";

const EVERYWHERE = Number.NEGATIVE_INFINITY;
const NONE = Number.POSITIVE_INFINITY;
const claim = { nowMs: 100_000, leftFromMs: NONE, rows: 0, tookMs: 100 };

test("Where a full claim is fast each look is full", () => {
  const floor = new DueFloor();
  floor.claimed({ ...claim, tookMs: 9 }, EVERYWHERE, 0);
  floor.claimed({ ...claim, rows: 500, tookMs: 100 }, EVERYWHERE, 0);
  floor.looked(claim, EVERYWHERE);
  expect([floor.from(1), floor.leftMs(1)]).toEqual([EVERYWHERE, 0]);
});

test("Behind a slow one the next begin two seconds before it, for ten times what it took", () => {
  const floor = new DueFloor();
  floor.claimed(claim, EVERYWHERE, 0);
  expect([floor.from(0), floor.from(999), floor.from(1_000)]).toEqual([98_000, 98_000, EVERYWHERE]);
  expect([floor.leftMs(999), floor.leftMs(1_000), floor.leftMs(1_001)]).toEqual([1, 0, 0]);
});

test("... and for five seconds at most", () => {
  const floor = new DueFloor();
  floor.claimed({ ...claim, tookMs: 20_000 }, EVERYWHERE, 0);
  expect([floor.from(4_999), floor.from(5_000)]).toEqual([98_000, EVERYWHERE]);
});

test("What a claim has left is above it, and it rises with what the next ones take", () => {
  const floor = new DueFloor();
  floor.claimed({ ...claim, leftFromMs: 50_000 }, EVERYWHERE, 0);
  expect(floor.from(1)).toBe(50_000);
  floor.claimed({ ...claim, leftFromMs: 60_000 }, 50_000, 10);
  expect(floor.from(11)).toBe(60_000);
  floor.looked({ ...claim, leftFromMs: 55_000 }, 50_000);
  expect(floor.from(13)).toBe(60_000);
  expect(floor.from(1_000)).toBe(EVERYWHERE);
});
