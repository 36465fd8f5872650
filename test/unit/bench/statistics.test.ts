import { expect, test } from "vitest";
import { percentileOf, summaryOf } from "../../../bench/core/statistics.mjs";

test("the median of an odd number of runs is the middle one, of an even number the mean of the two in the middle", () => {
  expect(summaryOf([9, 1, 5])).toEqual({ median: 5, min: 1, max: 9, runs: 3 });
  expect(summaryOf([4, 1, 2, 10]).median).toBe(3);
});

test("one disturbed run moves the largest, and not the median", () => {
  expect(summaryOf([100, 101, 99, 100, 5_000])).toEqual({ median: 100, min: 99, max: 5_000, runs: 5 });
});

test("a percentile lies between its two closest ranks", () => {
  const hundred = Array.from({ length: 101 }, (_, i) => i);
  expect(percentileOf(hundred, 99)).toBe(99);
  expect(percentileOf([10, 20], 75)).toBe(17.5);
  expect(percentileOf([7], 99)).toBe(7);
});

test("of no runs there is no summary", () => {
  expect(() => summaryOf([])).toThrow("no runs");
});
