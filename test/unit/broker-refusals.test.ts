import { beforeEach, describe, expect, test } from "vitest";
import { Refusals } from "../../libs/broker/src/refusals.ts";

describe("Refusals", () => {
  let nowMs = 0;
  let all: Refusals;
  beforeEach(() => {
    all = new Refusals(
      (exchange) => exchange !== "theirs",
      () => nowMs,
    );
  });
  /** Refused twice, so far apart: what the second says. */
  const refusedFor = (ms: number, exchange = "ours"): string | undefined => {
    all.refused(exchange);
    nowMs += ms;
    return all.refused(exchange);
  };

  test("give a reason to start over once all is refused for half a second, and each time twice as long until something is taken", () => {
    expect(refusedFor(499)).toBeUndefined();
    nowMs += 1;
    expect(all.refused("ours")).toBe("the broker has refused all that was published to ours for 500 ms");
    expect(refusedFor(999)).toBeUndefined();
    nowMs += 1;
    expect(all.refused("ours")).toContain("1000 ms");
    all.taken("ours");
    expect(refusedFor(500)).toContain("500 ms");
  });

  test("are borne for 30 s at most", () => {
    for (let i = 0; i < 12; i += 1) refusedFor(60_000);
    expect(refusedFor(29_999)).toBeUndefined();
    nowMs += 1;
    expect(all.refused("ours")).toContain("30000 ms");
  });

  test("of what need not be taken are none, and those before what was taken are forgotten", () => {
    expect(refusedFor(10_000, "theirs")).toBeUndefined();
    expect(refusedFor(400)).toBeUndefined();
    all.taken("ours");
    nowMs += 400;
    expect(all.refused("ours")).toBeUndefined();
  });

  test("of one exchange are given longer each time, however much another one takes", () => {
    expect(refusedFor(500)).toContain("500 ms");
    all.taken("another");
    expect(refusedFor(999)).toBeUndefined();
    all.taken("another");
    nowMs += 1;
    expect(all.refused("ours")).toContain("1000 ms");
  });
});
