import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { complain, say } from "../scripts/progress.mjs";
import { compareRatios, ratiosOf, TOLERANCE } from "./core/regression.mjs";

const HELP = `Usage: npm run bench:compare -- [RESULTS] [--save]

Holds the ratios to the raw broker of a run (bench/results/latest.json) against those of bench/baseline.json, and says which
became worse by more than ${TOLERANCE * 100} %: then it exits with 1. The baseline is of a quick run, as those are what is held
against it: runs of other lengths find processes that are more or less warm. --save makes this run the baseline instead, where it measured.
`;

const BASELINE = fileURLToPath(new URL("baseline.json", import.meta.url));
const LATEST = fileURLToPath(new URL("results/latest.json", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { save: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});

if (values.help) say(HELP);
else process.exitCode = compare(positionals[0] ?? LATEST);

/** @param {string} file @returns {number} the exit code */
function compare(file) {
  /** @type {import("./core/figures.mjs").Results} */
  const results = JSON.parse(readFileSync(file, "utf8"));
  const ratios = ratiosOf(results);
  /** @type {import("./core/regression.mjs").Ratios} */
  const baseline = JSON.parse(readFileSync(BASELINE, "utf8"));
  if (!results.options.quick)
    say("This is no quick run, as the baseline is to be: what is worse or better may be that alone.");
  if (values.save) {
    writeFileSync(BASELINE, `${JSON.stringify({ ...baseline, ...ratios }, null, 2)}\n`);
    say(`${Object.keys(ratios).length} ratios are the baseline now.`);
    return 0;
  }
  const { worse, better, missing, unknown } = compareRatios(baseline, ratios);
  for (const { id, was, is } of better) say(`better: ${id}: ${was} → ${is} times the raw broker`);
  if (missing.length > 0) say(`in the baseline, not measured: ${missing.join(", ")}`);
  if (unknown.length > 0) say(`measured, not in the baseline: ${unknown.join(", ")}`);
  for (const { id, was, is } of worse) complain(`WORSE: ${id}: ${was} → ${is} times the raw broker`);
  const compared = Object.keys(baseline).length - missing.length;
  say(`${compared} ratios compared, ${worse.length} worse by more than ${TOLERANCE * 100} %`);
  return worse.length > 0 || compared === 0 ? 1 : 0;
}
