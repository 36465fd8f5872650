import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { about, estimateS } from "../../../bench/core/estimate.mjs";
import { sizesOf } from "../../../bench/core/sizes.mjs";
import { SCENARIOS } from "../../../bench/scenarios/scenarios.mjs";

const lasts = (id: string, runs: number, hasPeers: boolean) =>
  estimateS(id, { runs, quick: false, rehearse: false, hasPeers });

test("every scenario has an estimate, which grows with the runs and with the peers", () => {
  for (const { id } of SCENARIOS)
    expect(estimateS(id, { runs: 2, quick: true, rehearse: false, hasPeers: false })).toBeGreaterThan(0);
  expect(lasts("kill", 5, false)).toBeGreaterThan(lasts("kill", 1, false));
  expect(lasts("kill", 5, true)).toBeGreaterThan(lasts("kill", 5, false));
});

test("every scenario has its place on the page of performance, in the section of its number", () => {
  const page = readFileSync(new URL("../../../docs/performance.md", import.meta.url), "utf8");
  const sections = page.split(/^## (?=\d+\. )/m);
  const placeOf = (id: string) => sections.find((section) => section.includes(`<!-- bench:${id} -->`))?.split(".")[0];
  expect(SCENARIOS.map(({ id }) => [id, placeOf(id)])).toEqual(SCENARIOS.map(({ id, number }) => [id, String(number)]));
});

test("what is told while one waits is told roughly", () => {
  expect(about(40.4)).toBe("about 40 s");
  expect(about(1_900)).toBe("about 32 min");
});

test("a quick run has the same crowd as a whole one, so that its ratios can be held against the baseline", () => {
  const [quick, whole] = [sizesOf({ quick: true, rehearse: false }), sizesOf({ quick: false, rehearse: false })];
  expect(quick.crowd).toBe(whole.crowd);
  expect(sizesOf({ quick: false, rehearse: true }).crowd).toBeLessThan(whole.crowd);
});
