import { expect, test } from "vitest";
import { DueFloor } from "../../../services/observer-manager/src/domain/due-floor.ts";

const EVERYWHERE = Number.NEGATIVE_INFINITY;
const NONE = Number.POSITIVE_INFINITY;
const look = { nowMs: 100_000, leftFromMs: NONE, rows: 0, tookMs: 100 };

test("Where a full look is fast each look is full", () => {
  const floor = new DueFloor();
  floor.looked({ ...look, tookMs: 9 }, EVERYWHERE, 0);
  floor.looked({ ...look, rows: 500, tookMs: 100 }, EVERYWHERE, 0);
  expect(floor.from(1)).toBe(EVERYWHERE);
});

test("Behind a slow one the next begin two seconds before it, for ten times what it took", () => {
  const floor = new DueFloor();
  floor.looked(look, EVERYWHERE, 0);
  expect([floor.from(0), floor.from(999), floor.from(1_000)]).toEqual([98_000, 98_000, EVERYWHERE]);
});

test("... and for five seconds at most", () => {
  const floor = new DueFloor();
  floor.looked({ ...look, tookMs: 20_000 }, EVERYWHERE, 0);
  expect([floor.from(4_999), floor.from(5_000)]).toEqual([98_000, EVERYWHERE]);
});

test("What a look has left is above it, and it rises with what the next ones take", () => {
  const floor = new DueFloor();
  floor.looked({ ...look, leftFromMs: 50_000 }, EVERYWHERE, 0);
  expect(floor.from(1)).toBe(50_000);
  floor.looked({ ...look, leftFromMs: 60_000, tookMs: 1 }, 50_000, 10);
  expect(floor.from(11)).toBe(60_000);
  floor.looked({ ...look, leftFromMs: 55_000, tookMs: 1 }, 50_000, 12);
  expect(floor.from(13)).toBe(60_000);
});
