import { describe, expect, it } from "vitest";
import type { Act } from "../support/acts/invariants.ts";
import { missedBy } from "../support/acts/neighbours.ts";

const MS = 1_000_000n;
const act = (slot: number, atMs: number): Act => ({
  observerId: "neighbour",
  runId: `in-${slot}`,
  pid: 1,
  kind: "act",
  slot,
  monotonicNs: BigInt(atMs) * MS,
});
const stay = (slot: number, fromMs: number, toMs: number) => ({
  slot,
  fromNs: BigInt(fromMs) * MS,
  toNs: BigInt(toMs) * MS,
});
const quiet = { stays: [], deaths: [], everyMs: 20, missedMs: () => 0 };

describe("what the neighbours of a poison have missed", () => {
  it("counts what one in another slot missed, less what the machine took from everybody", () => {
    const acts = [act(7, 0), act(7, 20), act(7, 420)];
    expect(missedBy(acts, quiet).elsewhereMs).toBe(380);
    expect(missedBy(acts, { ...quiet, missedMs: () => 300 }).elsewhereMs).toBe(80);
  });

  it("one that began again although its slot had no poison has missed that, too", () => {
    expect(missedBy([act(7, 0), act(8, 320)], { ...quiet, deaths: [{ slot: 7, atNs: 10n * MS }] })).toMatchObject({
      elsewhereMs: 300,
      timesBack: 0,
    });
  });

  it("beside the poison counts the time from its slot's death until it acts again", () => {
    const acts = [act(7, 0), act(8, 5_100), act(8, 5_120)];
    const surroundings = { ...quiet, stays: [stay(7, 0, 5_000)], deaths: [{ slot: 7, atNs: 5_000n * MS }] };
    expect(missedBy(acts, surroundings)).toEqual({ elsewhereMs: 0, backMs: 100, timesBack: 1, besideMs: 0 });
  });

  it("tells apart what it missed in a slot that lived on", () => {
    expect(missedBy([act(7, 0), act(7, 1_000)], { ...quiet, stays: [stay(7, 0, 5_000)] })).toMatchObject({
      elsewhereMs: 0,
      besideMs: 980,
    });
  });
});
