import { describe, expect, it } from "vitest";
import { type Act, findViolations, longestOverlapMs, mostLateActs } from "../support/acts/invariants.ts";

const MS = 1_000_000n;

/** A run that stamped every 20 ms from `fromMs` to `toMs`. */
function run(observerId: string, runId: string, fromMs: number, toMs: number): Act[] {
  const acts: Act[] = [{ observerId, runId, pid: 1, kind: "start", monotonicNs: BigInt(fromMs) * MS }];
  for (let at = fromMs + 20; at <= toMs; at += 20)
    acts.push({ observerId, runId, pid: 1, kind: "act", monotonicNs: BigInt(at) * MS });
  return acts;
}

const healthy = [
  ...run("a", "a1", 0, 2_000),
  ...run("a", "a2", 2_020, 5_000),
  ...run("b", "b1", 0, 5_000),
  ...run("c", "c1", 0, 1_000),
];
const expectations = { running: ["a", "b"], over: new Map([["c", 1_000n * MS]]), nowNs: 5_010n * MS };

describe("the invariant checker", () => {
  it("finds nothing where nothing is wrong", () => {
    expect(findViolations(healthy, expectations)).toEqual([]);
  });

  it("finds an observer that was lost", () => {
    const acts = healthy.filter((act) => act.observerId !== "b" || act.monotonicNs < 3_000n * MS);
    expect(findViolations(acts, expectations)).toMatchObject([{ invariant: "lost", observerId: "b" }]);
  });

  it("finds an observer that never ran", () => {
    expect(findViolations(healthy, { ...expectations, running: ["a", "b", "d"] })).toMatchObject([
      { invariant: "lost", observerId: "d", detail: "it never acted" },
    ]);
  });

  it("finds two runs of one observer side by side, however short", () => {
    const acts = [...healthy, ...run("b", "b2", 1_000, 1_040)];
    expect(findViolations(acts, expectations)).toMatchObject([{ invariant: "overlap", observerId: "b" }]);
    expect(longestOverlapMs(acts)).toBe(40);
    expect(findViolations(acts, { ...expectations, maxOverlapMs: 40 })).toEqual([]);
  });

  it("finds runs beside another that are over before their first act, stopped or killed: three of 15 ms each", () => {
    const twins = ["b2", "b3", "b4"].flatMap((runId, place): Act[] => {
      const [start] = run("b", runId, 1_003 + place * 100, 0) as [Act];
      return [start, { ...start, kind: "stop", monotonicNs: start.monotonicNs + 15n * MS }];
    });
    const killed = twins.filter(({ kind }) => kind !== "stop");
    for (const acts of [twins, killed])
      expect(findViolations([...healthy, ...acts], expectations)).toMatchObject(
        ["b2", "b3", "b4"].map((runId) => ({
          invariant: "overlap",
          observerId: "b",
          detail: expect.stringContaining(runId),
        })),
      );
    // Less than is allowed of these, and one that began as the one before made its last act.
    expect(findViolations([...healthy, ...twins], { ...expectations, maxOverlapMs: 1 })).toEqual([]);
    expect(findViolations([...healthy, ...run("c", "c2", 1_000, 0)], expectations)).toEqual([]);
  });

  it("forgives a service that was killed, and nobody else, that its slots went on for a moment", () => {
    const killed = { pids: new Set([7]), maxOverlapMs: 40 };
    const ofKilled = run("a", "a0", 1_980, 2_060).map((act) => ({ ...act, pid: 7 }));
    const early = healthy.filter((act) => act.runId !== "a1");
    expect(findViolations([...early, ...ofKilled], { ...expectations, killed })).toEqual([]);
    expect(findViolations([...early, ...ofKilled], expectations)).toMatchObject([{ invariant: "overlap", observerId: "a" }]);
    const beside = run("b", "b2", 1_000, 1_040);
    expect(findViolations([...early, ...ofKilled, ...beside], { ...expectations, killed })).toMatchObject([
      { invariant: "overlap", observerId: "b" },
    ]);
    const longer = run("a", "a0", 1_960, 2_080).map((act) => ({ ...act, pid: 7 }));
    expect(findViolations([...early, ...longer], { ...expectations, killed })).toMatchObject([{ observerId: "a" }]);
  });

  it("counts the acts of a run after a younger one began, and forgives as many as it is told", () => {
    const awoken = [0, 10].map((at): Act => ({ ...(healthy[0] as Act), kind: "act", monotonicNs: BigInt(3_900 + at) * MS }));
    const acts = [...healthy, ...awoken];
    expect(mostLateActs(acts)).toBe(2);
    expect(findViolations(acts, { ...expectations, maxLateActs: 2 })).toEqual([]);
    expect(longestOverlapMs(acts, 2)).toBe(0);
    expect(findViolations(acts, { ...expectations, maxLateActs: 1 })).toMatchObject([
      { invariant: "overlap", observerId: "a" },
    ]);
    expect(longestOverlapMs(acts, 1)).toBe(1_890);
  });

  it("finds two runs that are still side by side", () => {
    const acts = [...healthy, ...run("b", "b2", 1_000, 5_000)];
    expect(findViolations(acts, expectations)).toMatchObject([{ invariant: "doubled", observerId: "b" }]);
  });

  it("finds an observer that is back from the dead", () => {
    const acts = [...healthy, ...run("c", "c2", 3_000, 3_020)];
    expect(findViolations(acts, expectations)).toMatchObject([{ invariant: "resurrected", observerId: "c" }]);
  });

  it("finds an observer that nobody created", () => {
    expect(findViolations([...healthy, ...run("z", "z1", 0, 100)], expectations)).toMatchObject([
      { invariant: "unknown", observerId: "z" },
    ]);
  });
});
