import { expect, test } from "vitest";
import { compareRatios, ratiosOf } from "../../../bench/core/regression.mjs";
import { figure, resultsOf } from "./figures.ts";

test("a ratio is what Unacked costs of the raw broker: times as long, or a fraction as many a second", () => {
  const results = resultsOf(
    figure("time", { ours: [300, 100, 200], raw: [50] }),
    figure("rate", { unit: "/s", better: "more", ours: [500], raw: [2_000] }),
  );
  expect(ratiosOf(results)).toEqual({ time: 4, rate: 4 });
});

test("what has no raw counterpart, or is too coarse for a ratio, is not guarded", () => {
  const results = resultsOf(figure("alone", { ours: [1] }), figure("coarse", { ours: [1], raw: [1], isLoose: true }));
  expect(ratiosOf(results)).toEqual({});
});

test("a ratio that became more than a quarter worse is named; one at the limit is not", () => {
  const { worse, better, missing, unknown } = compareRatios(
    { slow: 2, limit: 2, same: 2, quick: 2, gone: 2 },
    { slow: 2.51, limit: 2.5, same: 2.1, quick: 1.5, fresh: 9 },
  );
  expect(worse).toEqual([{ id: "slow", was: 2, is: 2.51 }]);
  expect(better).toEqual([{ id: "quick", was: 2, is: 1.5 }]);
  expect(missing).toEqual(["gone"]);
  expect(unknown).toEqual(["fresh"]);
});
