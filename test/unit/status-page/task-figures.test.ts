import { expect, test } from "vitest";
import { barsOf, sayBars } from "../../../services/status-page/src/store/figure-bars.ts";
import { paramsOf, sayFlaws } from "../../../services/status-page/src/store/params-text.ts";

const bar = (completed: number, failed: number) => ({ at: "2026-11-20T09:00:00.000Z", completed, failed });

test("bars are parts of the tallest, what failed included; few do not look like many", () => {
  expect(barsOf({ bars: [bar(6, 2), bar(3, 0)] }).map(({ completed, failed }) => [completed, failed])).toEqual([
    [0.75, 0.25],
    [0.375, 0],
  ]);
  expect(barsOf({ bars: [bar(1, 0)] })[0]?.completed).toBe(0.2);
});

test("bars are said in words", () => {
  expect(sayBars({ type: "resize", bars: [bar(6, 2), bar(3, 0)] }, "hour")).toBe(
    "resize, the last 48 hours: 9 done, at most 6 in one hour, 2 failed",
  );
});

test("params that are none are said at once, what the type finds with its place", () => {
  expect(paramsOf('{"a": [1]}')).toEqual({ params: { a: [1] } });
  expect(paramsOf("null")).toEqual({ params: null });
  expect(paramsOf(" ")).toEqual({ flaw: "is empty: params without anything are {}" });
  expect(paramsOf('{"a": }')).toHaveProperty("flaw", expect.stringContaining("is no JSON"));
  expect(
    sayFlaws([
      { pointer: "/params/wall/0", message: "is missing" },
      { pointer: "/params", message: "is no object" },
    ]),
  ).toBe("/wall/0: is missing\nparams: is no object");
});
