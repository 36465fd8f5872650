import { describe, expect, it } from "vitest";
import { BUCKET_MS, FlowRates, SHOWN_BUCKETS } from "../../../services/status-page/src/store/flow-rates.ts";
import { rowWith } from "../../support/browser/observer-rows.ts";

const NOW = 1_700_000_000_000;
const nowOf = (rates: FlowRates, nowMs = NOW) => {
  const { perMinute } = rates.series(nowMs);
  return { starts: perMinute.starts.at(-1), ends: perMinute.ends.at(-1), failures: perMinute.failures.at(-1) };
};

describe("runs a minute", () => {
  it("count a start, a failure, a move and an end of one observer", () => {
    const rates = new FlowRates(NOW);
    const created = rowWith({ status: "Created", runId: null, runNumber: 0 });
    const runs = { ...created, status: "Processing" as const, runId: "a", runNumber: 1 };
    const fails = { ...runs, status: "Retrying" as const };
    const moved = { ...runs, runId: "b", runNumber: 2 };
    const ended = { ...moved, status: "Completed" as const, runId: null };
    for (const [before, after] of [
      [undefined, created],
      [created, runs],
      [runs, fails],
      [fails, moved],
      [moved, ended],
    ] as const)
      rates.note(before, after, NOW);
    expect(nowOf(rates)).toEqual({ starts: 2, ends: 2, failures: 1 });
  });

  it("take one that is new to the page for a start only in its first run", () => {
    const rates = new FlowRates(NOW);
    rates.note(undefined, rowWith({ runNumber: 1 }), NOW);
    rates.note(undefined, rowWith({ runNumber: 5 }), NOW);
    expect(nowOf(rates).starts).toBe(1);
  });

  it("forget what is more than a minute ago, and know nothing of before the page was opened", () => {
    const rates = new FlowRates(NOW);
    rates.note(undefined, rowWith(), NOW);
    expect(nowOf(rates, NOW + 50_000).starts).toBe(1);
    expect(nowOf(rates, NOW + 61_000).starts).toBe(0);
    const { timesS, perMinute } = rates.series(NOW);
    expect([timesS.length, perMinute.starts.at(-2)]).toEqual([SHOWN_BUCKETS, null]);
    for (let at = NOW; at < NOW + 30 * 60_000; at += BUCKET_MS) rates.note(undefined, rowWith(), at);
    expect(nowOf(rates, NOW + 30 * 60_000 - 1).starts).toBe(12);
  });

  it("tell which went on at another service, and how long those waited that had none, by the manager's clock", () => {
    const rates = new FlowRates(NOW);
    const before = rowWith({ modifiedAt: new Date(NOW).toISOString() });
    rates.note(before, { ...before, runId: "x", serviceId: "s2" }, NOW);
    expect(rates.moves).toEqual({ count: 1, waited: 0, longestWaitMs: 0 });
    for (const ms of [40, 900, 10]) {
      const waits = { ...before, status: "Redistributing" as const, serviceId: null, runId: null };
      rates.note(before, waits, NOW);
      rates.note(waits, { ...before, runId: "x", modifiedAt: new Date(NOW + ms).toISOString() }, NOW);
    }
    expect(rates.moves).toEqual({ count: 4, waited: 3, longestWaitMs: 900 });
  });

  it("count each failed attempt once, and never the one that goes on, also where the page saw only some of its changes", () => {
    const rates = new FlowRates(NOW);
    const runs = rowWith({ attempts: 1 });
    const fails = { ...runs, status: "Retrying" as const };
    const again = { ...runs, attempts: 2 };
    const failed = { ...runs, status: "Failed" as const, attempts: 2 };
    for (const [before, after] of [
      [runs, fails],
      [fails, again],
      [again, failed],
    ] as const)
      rates.note(before, after, NOW);
    expect(nowOf(rates).failures).toBe(2);
    rates.note(failed, { ...failed, status: "Created" }, NOW);
    rates.note(again, { ...again, status: "Redistributing" }, NOW);
    expect(nowOf(rates).failures).toBe(2);
  });
});
