import { ratioOf } from "./figures.mjs";
import { summaryOf } from "./statistics.mjs";

/** @typedef {import("./figures.mjs").Figure} Figure */
/** @typedef {import("./figures.mjs").PeerValues} PeerValues */

/**
 * @param {number} value
 * @param {string} unit
 */
export function formatValue(value, unit) {
  const text = unit === "ms" && value >= 10_000 ? `${threeDigits(value / 1_000)} s` : `${threeDigits(value)} ${unit}`;
  return text.replace(" /s", "/s").replace(" %", " %");
}

/** @param {number} value */
function threeDigits(value) {
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return Number(value.toFixed(Math.min(digits, 2))).toLocaleString("en-US", { maximumFractionDigits: 2 });
}

/**
 * "812 ms (780 – 911)".
 *
 * @param {readonly number[] | undefined} values
 * @param {string} unit
 */
export function formatSummary(values, unit) {
  if (values === undefined || values.length === 0) return "–";
  const { median, min, max, runs } = summaryOf(values);
  const text = formatValue(median, unit);
  if (runs === 1) return text;
  const inSeconds = unit === "ms" && median >= 10_000;
  const edge = (/** @type {number} */ value) => threeDigits(inSeconds ? value / 1_000 : value);
  return `${text} (${edge(min)} – ${edge(max)})`;
}

/** @param {number | null} ratio */
export const formatRatio = (ratio) => (ratio === null ? "–" : `${threeDigits(ratio)} ×`);

/** The header of figureRows. @param {string} [beside] */
export const figureHeader = (beside = "raw broker") => ["figure", "Unacked", beside, "ratio"];

/**
 * @param {Figure[]} figures
 * @returns {string[][]}
 */
export const figureRows = (figures) =>
  figures.map((figure) => [
    figure.title,
    formatSummary(figure.ours, figure.unit),
    formatSummary(figure.raw, figure.unit),
    formatRatio(ratioOf(figure)),
  ]);

export const PEER_HEADER = ["figure", "Unacked", "peer", "setting", "measured", "times Unacked"];

/**
 * @param {Figure[]} figures
 * @returns {string[][]}
 */
export const peerRows = (figures) =>
  figures.flatMap((figure) =>
    (figure.peers ?? []).map((peer) => [
      figure.title,
      formatSummary(figure.ours, figure.unit),
      peer.peer,
      peer.setting + (peer.note === undefined ? "" : `: ${peer.note}`),
      formatPeer(peer, figure.unit) + runsOf(figure, peer),
      formatTimes(figure, peer),
    ]),
  );

/**
 * @param {PeerValues} peer
 * @param {string} unit
 */
export function formatPeer({ values, over }, unit) {
  if (values.length > 0) return formatSummary(values, unit);
  return over === undefined ? "–" : `none within ${formatValue(over, unit)}`;
}

/** Where it was measured less often than Unacked: how often. @param {Figure} figure @param {PeerValues} peer */
function runsOf({ ours }, { values }) {
  if (values.length === 0 || values.length === ours.length) return "";
  return values.length === 1 ? ", 1 run" : `, ${values.length} runs`;
}

/**
 * @param {Figure} figure
 * @param {PeerValues} peer
 */
function formatTimes({ ours, better }, { values, over }) {
  const theirs = values.length > 0 ? summaryOf(values).median : over;
  if (theirs === undefined || ours.length === 0) return "–";
  const own = summaryOf(ours).median;
  const times = formatRatio(better === "less" ? theirs / own : own / theirs);
  return values.length > 0 ? times : `> ${times}`;
}

/**
 * For a terminal: columns as wide as their widest cell.
 *
 * @param {string[]} header
 * @param {string[][]} rows
 */
export function plainTable(header, rows) {
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((row) => (row[column] ?? "").length)));
  const line = (/** @type {string[]} */ row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(header), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}

/**
 * @param {string[]} header
 * @param {string[][]} rows
 */
export function markdownTable(header, rows) {
  const line = (/** @type {string[]} */ row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

/** The rows of the one table of a text, as markdownTable wrote them. @param {string} text */
export const rowsOfMarkdown = (text) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) =>
      line
        .slice(2, -2)
        .split(" | ")
        .map((cell) => cell.replaceAll("\\|", "|")),
    );
