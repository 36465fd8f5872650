import { describe, expect, test } from "vitest";
import { Refusals } from "../../libs/broker/src/refusals.ts";

describe("Refusals", () => {
  let nowMs = 0;
  const refusals = () =>
    new Refusals(
      (exchange) => exchange === "ours",
      () => nowMs,
    );
  const refusedFor = (all: Refusals, ms: number): string | undefined => {
    all.note("ours", false);
    nowMs += ms;
    all.note("ours", false);
    return all.whyStartOver();
  };

  test("gives a reason to start over once all is refused for half a second, and each time twice as long until something is taken", () => {
    const all = refusals();
    expect(refusedFor(all, 499)).toBeUndefined();
    nowMs += 1;
    expect(all.whyStartOver()).toBe("the broker has refused all that it has to take for 500 ms");
    expect(all.whyStartOver()).toBeUndefined();
    expect(refusedFor(all, 999)).toBeUndefined();
    nowMs += 1;
    expect(all.whyStartOver()).toContain("1000 ms");
    all.note("ours", true);
    expect(refusedFor(all, 500)).toContain("500 ms");
  });

  test("bears it for 30 s at most", () => {
    const all = refusals();
    for (let i = 0; i < 12; i += 1) refusedFor(all, 60_000);
    expect(refusedFor(all, 30_000)).toContain("30000 ms");
  });

  test("is not moved by what need not be taken, and forgets refusals before what was taken", () => {
    const all = refusals();
    all.note("theirs", false);
    nowMs += 10_000;
    expect(all.whyStartOver()).toBeUndefined();
    all.note("ours", false);
    nowMs += 400;
    all.note("ours", true);
    nowMs += 400;
    all.note("ours", false);
    expect(all.whyStartOver()).toBeUndefined();
  });
});
