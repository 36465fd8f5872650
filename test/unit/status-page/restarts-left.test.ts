import { expect, test } from "vitest";
import { hasRestartsLeft } from "../../../services/status-page/src/store/observer-row.ts";
import { rowWith } from "../../support/browser/observer-rows.ts";

const MINUTE_MS = 60_000;

/** Written at 0 by the manager's clock, and read a minute later, by a browser whose clock is so much ahead. */
const leftFor = (aheadMs: number): number => {
  const row = rowWith({ restartsLately: 3, modifiedAt: new Date(0).toISOString(), readAtMs: MINUTE_MS + aheadMs });
  let minutes = 0;
  while (hasRestartsLeft(row, row.readAtMs + minutes * MINUTE_MS)) minutes += 1;
  return minutes;
};

test("restarts count for ten minutes from when the observer was written", () => {
  expect(leftFor(0)).toBe(9);
  expect(hasRestartsLeft(rowWith(), 0)).toBe(false);
});

test("a clock that is far ahead of the manager's hides none of them", () => {
  expect(leftFor(5 * MINUTE_MS)).toBe(4);
  expect(leftFor(3 * 60 * MINUTE_MS)).toBe(10);
});
