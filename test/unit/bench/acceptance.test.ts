import { describe, expect, test } from "vitest";
import { acceptanceOf, acceptanceRows, newestRows, runOf } from "../../../bench/core/acceptance.mjs";
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

  test("dates each row, and keeps of a page what was measured later, or only then", () => {
    const rowsOf = (about: Figure, date: string) => acceptanceRows(acceptanceOf(resultsOf(about)), date);
    const killed = (ms: number) => figure("kill.10000-books", { ours: [ms] });
    const page = rowsOf(killed(1_428), "2026-11-20");
    const rowIn = (rows: string[][], about: string) => rows.find(([name]) => name === about);
    const books = "kill -9 with 10,000 → books right";
    const stopped = newestRows(page, rowsOf(figure("stop.deleted", { ours: [2_129] }), "2026-11-30"));
    expect(rowIn(stopped, books)).toEqual([books, "≤ 1,500 ms", "1,428 ms", "yes", "2026-11-20"]);
    expect(rowIn(stopped, "stop of 10,000 → all Deleted")?.slice(2)).toEqual(["2,129 ms", "NO", "2026-11-30"]);
    expect(rowIn(newestRows(stopped, rowsOf(killed(2_462), "2026-11-30")), books)?.slice(2)).toEqual([
      "2,462 ms",
      "NO",
      "2026-11-30",
    ]);
    expect(rowIn(newestRows(page, rowsOf(killed(1_000), "2026-11-19")), books)?.at(-1)).toBe("2026-11-20");
  });

  test("says of a quick run that it was one; of two of a day the page has the one that is written last", () => {
    const rowsOf = (ms: number, quick: boolean) => {
      const results = { ...resultsOf(figure("stop.deleted", { ours: [ms] })), at: "2026-12-01T09:00:00.000Z" };
      return acceptanceRows(acceptanceOf(results), runOf({ ...results, options: { runs: 1, quick } }));
    };
    const stop = (rows: string[][]) => rows.find(([name]) => name?.startsWith("stop"))?.slice(2);
    const quick = rowsOf(1_500, true);
    expect(stop(quick)).toEqual(["1,500 ms", "yes", "2026-12-01, quick"]);
    expect(stop(newestRows(quick, rowsOf(1_700, false)))).toEqual(["1,700 ms", "yes", "2026-12-01"]);
  });

  test("knows a row again whose bound moves with the raw broker", () => {
    const rowsOf = (raw: number, date: string) =>
      acceptanceRows(acceptanceOf(resultsOf(figure("create.batch-books", { ours: [2_300], raw: [raw] }))), date);
    const rows = newestRows(rowsOf(600, "2026-11-20"), rowsOf(500, "2026-11-30"));
    expect(rows.filter(([, , measured]) => measured === "2,300 ms").map(([, bound]) => bound)).toEqual([
      "≤ 4 × raw or 1,500 ms: 2,000 ms",
    ]);
  });
});
