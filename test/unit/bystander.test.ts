import { describe, expect, it } from "vitest";
import { longestWithin } from "../support/processes/bystander.ts";

const MS = 1_000_000n;
const late = (atMs: number, missedMs: number) => ({ atNs: BigInt(atMs) * MS, missedMs });
const within = (fromMs: number, toMs: number, ...all: ReturnType<typeof late>[]) =>
  longestWithin(all, BigInt(fromMs) * MS, BigInt(toMs) * MS);

describe("what a bystander missed between two moments", () => {
  it("is the longest of it", () => {
    expect(within(0, 1_000, late(300, 200), late(900, 50))).toBe(200);
  });

  it("of a machine that stood still it counts too where others went on first, or were the last to act", () => {
    expect(within(100, 500, late(510, 400))).toBe(390);
    expect(within(100, 500, late(480, 400))).toBe(380);
  });

  it("leaves out what was before or after", () => {
    expect(within(500, 900, late(400, 300), late(1_300, 200))).toBe(0);
    expect(within(500, 900)).toBe(0);
  });
});
