import { describe, expect, test } from "vitest";
import { barChart } from "../../../bench/core/chart.mjs";
import { CpuNotes } from "../../../bench/core/cpu-notes.mjs";
import { fillMarkedParts, markedPart } from "../../../bench/core/marked-parts.mjs";
import { chooseScenarios, OptionError, parseBenchOptions } from "../../../bench/core/options.mjs";
import {
  figureRows,
  formatSummary,
  formatValue,
  markdownTable,
  peerRows,
  plainTable,
  rowsOfMarkdown,
} from "../../../bench/core/tables.mjs";
import { Tally } from "../../../bench/core/tally.mjs";
import { inTurn } from "../../../bench/core/turns.mjs";
import { figure } from "./figures.ts";

describe("the tables", () => {
  test("show three digits, and seconds where there are many milliseconds", () => {
    expect([0.1234, 4.567, 812.4, 9_876.5, 59_300].map((ms) => formatValue(ms, "ms"))).toEqual([
      "0.12 ms",
      "4.57 ms",
      "812 ms",
      "9,877 ms",
      "59.3 s",
    ]);
    expect(formatValue(20_345, "/s")).toBe("20,345/s");
    expect(formatSummary([900, 812, 780], "ms")).toBe("812 ms (780 – 900)");
    expect(formatSummary([59_300, 60_000, 58_000], "ms")).toBe("59.3 s (58 – 60)");
    expect(formatSummary([], "ms")).toBe("–");
  });

  test("put the raw broker and the ratio beside each figure", () => {
    expect(figureRows([figure("a", { ours: [900], raw: [300] }), figure("b", { ours: [1] })])).toEqual([
      ["about a", "900 ms", "300 ms", "3 ×"],
      ["about b", "1 ms", "–", "–"],
    ]);
  });

  test("say of a peer that was waited for in vain how long that was", () => {
    const peers = [
      { peer: "BullMQ", setting: "defaults", values: [59_000] },
      { peer: "slow", setting: "defaults", note: "4 hours", values: [], over: 90_000 },
    ];
    expect(peerRows([figure("a", { ours: [500, 500], peers })]).map((row) => row.slice(2))).toEqual([
      ["BullMQ", "defaults", "59 s, 1 run", "118 ×"],
      ["slow", "defaults: 4 hours", "none within 90 s", "> 180 ×"],
    ]);
  });

  test("are as wide as they must be for a terminal, and escaped for Markdown", () => {
    expect(plainTable(["a", "long"], [["longer", "b"]])).toBe("a       long\n------  ----\nlonger  b");
    expect(markdownTable(["a"], [["x | y"]])).toBe("| a |\n| --- |\n| x \\| y |");
  });

  test("are read back from a page", () => {
    const rows = [
      ["x | y", "1 ms"],
      ["z", ""],
    ];
    expect(rowsOfMarkdown(`before\n\n${markdownTable(["a", "b"], rows)}\n\nafter`)).toEqual(rows);
  });
});

test("a tally keeps what each run gave, figure by figure, and leaves out what was not measured", () => {
  const about = { title: "t", unit: "ms", better: "less" as const };
  const tally = new Tally("s", { one: about, two: about, none: about });
  for (const ms of [1, 2]) tally.ours({ one: ms, two: ms * 10 });
  tally.raw({ one: 5 });
  tally.peer({ peer: "p", setting: "defaults" }, { one: 7 });
  tally.peer({ peer: "p", setting: "defaults" }, { one: 8 });
  tally.peerInVain({ peer: "q", setting: "defaults" }, { one: 90 });
  expect(tally.figures).toEqual([
    {
      id: "s.one",
      ...about,
      ours: [1, 2],
      raw: [5],
      peers: [
        { peer: "p", setting: "defaults", values: [7, 8] },
        { peer: "q", setting: "defaults", values: [], over: 90 },
      ],
    },
    { id: "s.two", ...about, ours: [10, 20] },
  ]);
});

test("a chart's bars are as long as their values say, with words that cannot break the picture", () => {
  const svg = barChart({
    title: "kill -9 <all>",
    unit: "ms",
    bars: [
      { label: "raw", value: 100, kind: "raw" },
      { label: "a & b", value: 200, kind: "peer", isOver: true },
    ],
  });
  const widths = [...svg.matchAll(/<rect [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
  expect(widths[1]).toBeCloseTo(2 * (widths[0] ?? 0));
  expect(svg).toContain("> 200 ms");
  expect(svg).toContain("a &amp; b");
  expect(svg).toContain("kill -9 &lt;all>");
  expect(svg).not.toContain("logarithmic");
  const long = barChart({
    title: "t",
    unit: "ms",
    bars: [100, 60_000].map((value) => ({ label: "x", value, kind: "raw" })),
  });
  expect(long).toContain("logarithmic");
});

test("only what is between its markers is rewritten", () => {
  const page = "before\n<!-- bench:a -->\n\nold\n\n<!-- /bench:a -->\nafter";
  expect(fillMarkedParts(page, { a: "new" })).toBe("before\n<!-- bench:a -->\n\nnew\n\n<!-- /bench:a -->\nafter");
  expect(() => fillMarkedParts(page, { b: "new" })).toThrow("no place for b");
  expect(markedPart(page, "a")).toBe("old");
  expect(() => markedPart(page, "b")).toThrow("no place for b");
});

describe("the options", () => {
  test("measure with the peers, and quickly without; as often as each scenario says, unless told otherwise", () => {
    expect(parseBenchOptions([])).toMatchObject({ only: [], runs: undefined, quick: false, rehearse: false, peers: true });
    expect(parseBenchOptions(["--quick"])).toMatchObject({ runs: undefined, quick: true, peers: false });
    expect(parseBenchOptions(["--rehearse"])).toMatchObject({ rehearse: true, peers: true });
    expect(() => parseBenchOptions(["--quick", "--rehearse"])).toThrow(OptionError);
    expect(parseBenchOptions(["--quick", "--peers", "--runs", "1"])).toMatchObject({ runs: 1, peers: true });
    expect(parseBenchOptions(["--no-peers"])).toMatchObject({ peers: false });
    expect(() => parseBenchOptions(["--runs", "none"])).toThrow(OptionError);
    expect(() => parseBenchOptions(["--fast"])).toThrow(OptionError);
  });

  test("choose scenarios by name or number, and name those that there are", () => {
    const scenarios = [
      { id: "create", number: 1 },
      { id: "restart", number: 6 },
    ];
    const chosen = (only: string[]) => chooseScenarios(scenarios, { only }).map(({ id }) => id);
    expect(chosen([])).toEqual(["create", "restart"]);
    expect(chosen(["6"])).toEqual(["restart"]);
    expect(() => chosen(["nothing"])).toThrow("1 create, 6 restart");
  });
});

test("in as many runs as there are sides each has had each place", () => {
  expect([1, 2, 3, 4].map((run) => inTurn(["a", "b", "c"], run).join(""))).toEqual(["abc", "bca", "cab", "abc"]);
});

test("what each part of a side spent is told by medians, with their sum", () => {
  const notes = new CpuNotes();
  notes.take("one a call", { manager: 40.4, service: 50 });
  notes.take("one a call", { manager: 60, service: 70 });
  notes.take("pg-boss", { worker: 9.6 });
  expect(notes.lines).toEqual([
    "CPU of each, one a call: manager 50, service 60, in all 110 µs",
    "CPU of each, pg-boss: worker 10, in all 10 µs",
  ]);
});
