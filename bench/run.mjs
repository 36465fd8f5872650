import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { complain, PlainError, say } from "../scripts/progress.mjs";
import { ACCEPTANCE_HEADER, acceptanceOf, acceptanceRows, runOf } from "./core/acceptance.mjs";
import { about, estimateS } from "./core/estimate.mjs";
import { chooseScenarios, HELP, OptionError, parseBenchOptions } from "./core/options.mjs";
import { sizesOf } from "./core/sizes.mjs";
import { figureHeader, figureRows, PEER_HEADER, peerRows, plainTable } from "./core/tables.mjs";
import { providePeers } from "./peers/peers.mjs";
import { describeMachine } from "./rig/machine.mjs";
import { Rig } from "./rig/rig.mjs";
import { SCENARIOS } from "./scenarios/scenarios.mjs";

/** `npm run bench`: measures scenario by scenario, says so, prints tables, writes JSON. */

/** A median of fewer says little. */
const RUNS = 5;
const RESULTS = fileURLToPath(new URL("results", import.meta.url));

/** @param {string[]} args */
async function main(args) {
  const options = parseBenchOptions(args);
  if (options === "help") return say(HELP);
  const chosen = chooseScenarios(SCENARIOS, options);
  const peers = options.peers ? await providePeers(say) : [];
  if (options.profile !== undefined) process.env.BENCH_PROFILE = options.profile;
  const plan = planOf(chosen, options, peers.length > 0);
  const rig = new Rig();
  try {
    say("starting a broker and a database");
    await rig.start();
    const failed = await measureAll(plan, options, { rig, peers });
    if (failed.length > 0) throw new PlainError(`Not measured, as it failed: ${failed.join(", ")}`);
  } finally {
    await rig.stop();
    if (options.profile !== undefined) say(`The profiles are in ${rig.dir}/logs`);
  }
}

/** @typedef {{ scenario: import("./scenarios/bench.mjs").Scenario, runs: number, lastsS: number }[]} Plan */

/**
 * @param {import("./scenarios/bench.mjs").Scenario[]} chosen
 * @param {import("./core/options.mjs").BenchOptions} options
 * @param {boolean} hasPeers
 * @returns {Plan}
 */
const planOf = (chosen, { quick, rehearse, ...options }, hasPeers) =>
  chosen.map((scenario) => {
    const runs = options.runs ?? (rehearse ? 1 : quick ? scenario.quickRuns : (scenario.runs ?? RUNS));
    return { scenario, runs, lastsS: estimateS(scenario.id, { runs, quick, rehearse, hasPeers }) };
  });

/**
 * One after the other. One that fails does not cost the others; answers which did.
 *
 * @param {Plan} plan
 * @param {import("./core/options.mjs").BenchOptions} options
 * @param {Pick<import("./scenarios/bench.mjs").Bench, "rig" | "peers">} place
 * @returns {Promise<string[]>}
 */
async function measureAll(plan, options, { rig, peers }) {
  const { quick, rehearse, out } = options;
  let leftS = plan.reduce((sum, { lastsS }) => sum + lastsS, 0);
  /** @type {import("./core/figures.mjs").Results} */
  const results = {
    at: new Date().toISOString(),
    machine: { ...(await describeMachine(rig)), commit: commit() },
    options: { runs: Math.max(...plan.map(({ runs }) => runs)), quick },
    scenarios: [],
  };
  /** @type {string[]} */
  const failed = [];
  for (const { scenario, runs, lastsS } of plan) {
    const { id, number, title } = scenario;
    sayWhen(`${number} ${title}: ${about(lastsS)}, ${about(leftS)} to the end`);
    try {
      results.scenarios.push(await measure(scenario, { rig, runs, sizes: sizesOf(options), peers, say: sayWhen }));
    } catch (error) {
      failed.push(id);
      complain(`${number} ${title} failed. ${/** @type {Error} */ (error).stack}`);
    }
    if (!rehearse) write(results, out);
    leftS -= lastsS;
  }
  if (!rehearse && plan.length > 1)
    print("Acceptance", ACCEPTANCE_HEADER, acceptanceRows(acceptanceOf(results), runOf(results)));
  say(rehearse ? "A rehearsal: nothing is written." : `Written to ${fileOf(results, out)}`);
  sayWhen("done");
  return failed;
}

/**
 * @param {import("./scenarios/bench.mjs").Scenario} scenario
 * @param {import("./scenarios/bench.mjs").Bench} bench
 * @returns {Promise<import("./core/figures.mjs").ScenarioResult>}
 */
async function measure({ id, number, title, beside, measure: work }, bench) {
  try {
    const { figures, notes = [] } = await work(bench);
    print(`${number} ${title}`, figureHeader(beside), figureRows(figures));
    if (figures.some(({ peers }) => peers !== undefined)) print("beside the peers", PEER_HEADER, peerRows(figures));
    for (const note of notes) say(note);
    return { id, number, title, figures, notes, ...(beside !== undefined && { beside }) };
  } finally {
    await bench.rig.programs.endAll();
  }
}

/** @param {string} title @param {string[]} header @param {string[][]} rows */
function print(title, header, rows) {
  say(`\n${title}\n\n${plainTable(header, rows)}\n`);
}

/** With the seconds since this process began. @param {string} text */
function sayWhen(text) {
  say(`${(performance.now() / 1_000).toFixed(0).padStart(5)} s  ${text}`);
}

/** @param {import("./core/figures.mjs").Results} results @param {string | undefined} out */
const fileOf = ({ at }, out) => (out === undefined ? join(RESULTS, `${at.replaceAll(/[:.]/g, "-")}.json`) : resolve(out));

/** After each scenario, so that nothing is lost if one of the next is in the way. @param {import("./core/figures.mjs").Results} results @param {string | undefined} out */
function write(results, out) {
  for (const file of [fileOf(results, out), join(RESULTS, "latest.json")]) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  }
}

function commit() {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "?"; // not a clone
  }
}

try {
  await main(process.argv.slice(2));
  process.exit(0);
} catch (error) {
  const isPlain = error instanceof PlainError || error instanceof OptionError;
  complain(isPlain ? error.message : String(/** @type {Error} */ (error)?.stack ?? error));
  process.exit(error instanceof OptionError ? 2 : 1);
}
