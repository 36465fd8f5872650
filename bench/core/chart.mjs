import { formatValue } from "./tables.mjs";

/** @typedef {{ label: string, value: number, kind: "ours" | "raw" | "peer", isOver?: boolean }} Bar `isOver`: at least so much */

const WIDTH = 760;
const LABEL_WIDTH = 250;
const VALUE_WIDTH = 120;
const ROW = 26;
const TOP = 44;

/** Readable on a light page and on a dark one, also where the picture is only linked to. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-weight: 600; font-size: 15px; }
  .ours { fill: #2f6fde; } .raw { fill: #8c959f; } .peer { fill: #c98a2b; }
  .note { fill: #57606a; font-size: 12px; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .note { fill: #9198a1; }
    .ours { fill: #5b93f5; } .raw { fill: #7d8590; } .peer { fill: #e0a64a; }
  }`;

/**
 * Horizontal bars with their values. Logarithmic where the longest is more than 50 times the shortest: then it says so.
 *
 * @param {{ title: string, unit: string, bars: Bar[] }} chart
 * @returns {string} SVG
 */
export function barChart({ title, unit, bars }) {
  const values = bars.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const isLog = most > 50 * least;
  const room = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
  const lengthOf = (/** @type {number} */ value) =>
    Math.max(2, isLog ? (room * Math.log(value / (least / 2))) / Math.log(most / (least / 2)) : (room * value) / most);
  const height = TOP + bars.length * ROW + (isLog ? 22 : 8);
  const rows = bars.map(({ label, value, kind, isOver }, index) => {
    const y = TOP + index * ROW;
    const length = lengthOf(value);
    const text = `${isOver ? "> " : ""}${formatValue(value, unit)}`;
    return [
      `<text x="${LABEL_WIDTH - 10}" y="${y + 15}" text-anchor="end">${escape(label)}</text>`,
      `<rect class="${kind}" x="${LABEL_WIDTH}" y="${y + 2}" width="${length.toFixed(1)}" height="${ROW - 8}" rx="2"/>`,
      `<text x="${(LABEL_WIDTH + length + 8).toFixed(1)}" y="${y + 15}">${escape(text)}</text>`,
    ].join("\n  ");
  });
  const note = isLog ? `<text class="note" x="${LABEL_WIDTH}" y="${height - 6}">logarithmic scale</text>` : "";
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escape(title)}">
  <style>${STYLE}
  </style>
  <text class="title" x="0" y="20">${escape(title)}</text>
  ${rows.join("\n  ")}
  ${note}
</svg>
`;
}

/** @param {string} text */
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
