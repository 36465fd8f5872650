import { expect, test } from "vitest";
import { ClaimFloors, type Look } from "../../../services/observer-manager/src/domain/tasks/claim-floors.ts";

const look = (changed: Partial<Look> = {}): Look => ({
  nowMs: 100_000,
  dueNowMs: 200_000,
  xmin: 10n,
  xmax: 12n,
  oldestReady: [{ type: "a", ms: null }],
  oldestSentMs: null,
  ...changed,
});
const SECOND = { nowMs: 100_100, dueNowMs: 200_100, xmin: 12n, xmax: 15n };

test("A look that is fast, by what it claimed, needs no floor", () => {
  const floors = new ClaimFloors();
  expect(floors.isSlow(9, 0, 0)).toBe(false);
  expect(floors.isSlow(100, 1_000, 0)).toBe(false);
  expect(floors.isSlow(100, 100, 0)).toBe(true);
});

test("A floor is made by two looks, the second of which sees that all who wrote at the first have ended", () => {
  const floors = new ClaimFloors();
  floors.looked(look(), 100, 0);
  expect(floors.at(1)).toBeUndefined();
  floors.looked(look({ ...SECOND, xmin: 11n }), 100, 1); // one still writes
  expect(floors.at(2)).toBeUndefined();
  floors.looked(look({ ...SECOND }), 100, 2);
  // Two seconds before the first look, each by its own clock.
  expect(floors.at(3)).toEqual({
    readyFrom: new Date(198_000),
    readyFromByType: new Map([["a", new Date(198_000)]]),
    sentFrom: new Date(98_000),
  });
});

test("A floor is no later than what was seen, of each type", () => {
  const floors = new ClaimFloors();
  floors.looked(look(), 100, 0);
  floors.looked(
    look({
      ...SECOND,
      oldestReady: [
        { type: "a", ms: 5_000 },
        { type: "b", ms: 9_000 },
      ],
      oldestSentMs: 7_000,
    }),
    100,
    1,
  );
  expect(floors.at(2)).toEqual({
    readyFrom: new Date(5_000),
    readyFromByType: new Map([
      ["a", new Date(5_000)],
      ["b", new Date(9_000)],
    ]),
    sentFrom: new Date(7_000),
  });
});

test("Full looks take a tenth of the time, and are no further apart than 5 s", () => {
  const floors = new ClaimFloors();
  floors.looked(look(), 100, 0);
  floors.looked(look(SECOND), 100, 1);
  expect(floors.at(1_000)).toBeDefined();
  expect(floors.at(1_001)).toBeUndefined();
  floors.looked(look({ ...SECOND, xmin: 15n, xmax: 16n }), 2_000, 2_000);
  expect(floors.at(6_999)).toBeDefined();
  expect(floors.at(7_000)).toBeUndefined();
});

test("Where somebody writes in one transaction for long it is not looked for again and again", () => {
  const floors = new ClaimFloors();
  expect(floors.isSlow(300, 0, 0)).toBe(true);
  floors.looked(look(), 300, 0);
  expect(floors.isSlow(300, 0, 200)).toBe(false);
  expect(floors.isSlow(300, 0, 300)).toBe(true);
});

test("Below what has been due since ever there is no floor, and none is left from before", () => {
  const floors = new ClaimFloors();
  floors.looked(look(), 100, 0);
  floors.looked(look({ ...SECOND, oldestReady: [{ type: "a", ms: Number.NEGATIVE_INFINITY }] }), 100, 2);
  expect(floors.at(3)).toBeUndefined();
});
