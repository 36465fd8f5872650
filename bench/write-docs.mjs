import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "../scripts/progress.mjs";
import { ACCEPTANCE_HEADER, acceptanceOf, acceptanceRows, newestRows, runOf } from "./core/acceptance.mjs";
import { barChart } from "./core/chart.mjs";
import { fillMarkedParts, markedPart } from "./core/marked-parts.mjs";
import { summaryOf } from "./core/statistics.mjs";
import { figureHeader, figureRows, markdownTable, PEER_HEADER, peerRows, rowsOfMarkdown } from "./core/tables.mjs";
import { SCENARIOS } from "./scenarios/scenarios.mjs";

/**
 * `npm run bench:docs -- [RESULTS]`: writes the tables and charts of docs/performance.md from a run's JSON
 * (bench/results/latest.json). A scenario that the run has not keeps what stands there, as does the machine then; of acceptance each row
 * is of the last run that measured it.
 */

/** @typedef {import("./core/figures.mjs").Results} Results */

const DOCS = fileURLToPath(new URL("../docs", import.meta.url));
const PAGE = join(DOCS, "performance.md");
const PICTURES = join(DOCS, "pictures");

/** Figures that are drawn, each in the part of its scenario. */
const DRAWN = ["create.batch-running", "one-create.rest-p50", "kill.10000-running"];

const file = process.argv[2] ?? fileURLToPath(new URL("results/latest.json", import.meta.url));
/** @type {Results} */
const results = JSON.parse(readFileSync(file, "utf8"));
mkdirSync(PICTURES, { recursive: true });
const page = readFileSync(PAGE, "utf8");
const known = rowsOfMarkdown(markedPart(page, "acceptance"));
writeFileSync(PAGE, fillMarkedParts(page, { ...partsOf(results), acceptance: acceptancePart(results, known) }));
say(`docs/performance.md: ${results.scenarios.map(({ id }) => id).join(", ")}`);

/** @param {Results} of @returns {Record<string, string>} */
function partsOf(of) {
  const scenarios = of.scenarios.map(({ id, figures, notes, beside: other }) => {
    const drawn = figures.filter((figure) => DRAWN.includes(figure.id)).map(draw);
    const peers = peerRows(figures);
    const beside = peers.length === 0 ? [] : [markdownTable(PEER_HEADER, peers)];
    return [id, [...drawn, markdownTable(figureHeader(other), figureRows(figures)), ...beside, ...notes].join("\n\n")];
  });
  const parts = Object.fromEntries(scenarios);
  // Of a part of the scenarios only these change, and say when and where they were measured.
  if (of.scenarios.length < SCENARIOS.length)
    return Object.fromEntries(
      Object.entries(parts).map(([id, text]) => [id, `${text}\n\nMeasured by itself: ${machineLine(of)}`]),
    );
  return { machine: machineLine(of), ...parts };
}

/** @param {Results} of @param {string[][]} rows that stand on the page */
function acceptancePart(of, rows) {
  return markdownTable(ACCEPTANCE_HEADER, newestRows(rows, acceptanceRows(acceptanceOf(of), runOf(of))));
}

/** @param {Results} of */
function machineLine(of) {
  const about = Object.entries(of.machine).map(([name, value]) => `${name} ${value}`);
  return `${about.join(" · ")} · ${of.options.runs} runs each · ${runOf(of)}`;
}

/** Writes the picture of a figure; answers what shows it. @param {import("./core/figures.mjs").Figure} figure */
function draw(figure) {
  const { id, title, unit } = figure;
  const name = `bench-${id.replaceAll(".", "-")}.svg`;
  writeFileSync(join(PICTURES, name), barChart({ title, unit, bars: barsOf(figure) }));
  return `![${title}](pictures/${name})`;
}

/** @param {import("./core/figures.mjs").Figure} figure @returns {import("./core/chart.mjs").Bar[]} */
function barsOf({ ours, raw = [], peers = [] }) {
  const rawBars = raw.map(() => ({
    label: "raw broker (amqplib)",
    value: summaryOf(raw).median,
    kind: /** @type {const} */ ("raw"),
  }));
  const peerBars = peers.map(({ peer, setting, values, over = 0 }) => {
    const isOver = values.length === 0;
    const value = isOver ? over : summaryOf(values).median;
    return { label: `${peer}, ${setting}`, value, kind: /** @type {const} */ ("peer"), isOver };
  });
  return [...rawBars.slice(0, 1), { label: "Unacked", value: summaryOf(ours).median, kind: "ours" }, ...peerBars];
}
