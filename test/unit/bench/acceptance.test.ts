import { describe, expect, test } from "vitest";
import { acceptanceOf } from "../../../bench/core/acceptance.mjs";
import type { Figure } from "../../../bench/core/figures.mjs";
import { figure, resultsOf } from "./figures.ts";

const verdictsOn = (about: Figure) =>
  acceptanceOf(resultsOf(about))
    .filter(({ met }) => met !== null)
    .map(({ bound, measured, met }) => ({ bound, measured, met }));

describe("the acceptance table", () => {
  test("takes the larger of so many times the raw broker and a fixed time", () => {
    const slowRaw = figure("create.batch-books", { ours: [2_300], raw: [600] });
    expect(verdictsOn(slowRaw)).toEqual([{ bound: "≤ 4 × raw or 1,500 ms: 2,400 ms", measured: "2,300 ms", met: true }]);
    const fastRaw = figure("create.batch-books", { ours: [1_600], raw: [200] });
    expect(verdictsOn(fastRaw)).toEqual([{ bound: "≤ 4 × raw or 1,500 ms: 1,500 ms", measured: "1,600 ms", met: false }]);
  });

  test("holds Unacked against BullMQ as it was measured in the same run", () => {
    const peers = [{ peer: "BullMQ 6.7.0", setting: "defaults", values: [60_000] }];
    const killed = verdictsOn(figure("kill.10000-running", { ours: [1_500], raw: [100], peers }));
    expect(killed.map(({ met }) => met)).toEqual([false, false]);
    expect(killed[1]).toEqual({ bound: "50 × faster than BullMQ, defaults", measured: "40 ×", met: false });
  });

  test("knows figures of which more is better", () => {
    const events = (perS: number) => figure("throughput.state-events", { unit: "/s", better: "more", ours: [perS] });
    expect(verdictsOn(events(25_000))[0]?.met).toBe(true);
    expect(verdictsOn(events(19_000))[0]?.met).toBe(false);
  });

  test("says of what was not measured that it was not", () => {
    expect(acceptanceOf(resultsOf()).map(({ met }) => met)).not.toContain(true);
    expect(acceptanceOf(resultsOf()).map(({ met }) => met)).not.toContain(false);
  });
});
