import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { whyNoTrials } from "./engine/trial.mjs";
import { whyNoPackagesTrial } from "./packages-trial/registry.mjs";
import { say } from "./progress.mjs";
import { whyNoCluster } from "./servers/cluster/cluster.mjs";
import { findKubectl, provideKubectl, WHY_NO_KUBECTL } from "./setup/kubectl-program.mjs";
import { provideNetworkPrograms } from "./setup/network-programs.mjs";
import { findNginx, provideNginx, WHY_NO_NGINX } from "./setup/nginx-program.mjs";
import { findPgbouncer, WHY_NO_PGBOUNCER } from "./setup/pgbouncer-program.mjs";
import { failuresOf } from "./test/failures.mjs";
import { runShown } from "./test/run-shown.mjs";
import { runVitest } from "./test/run-vitest.mjs";
import { lastLineOf, NOTHING, sumOf, tallyOf } from "./test/tally.mjs";

/**
 * `npm test`: the check of the sources (one test, as it counts), the pure tests, and of the others the main path of each promise
 * (test/support/runs/main-path.ts): ten minutes; the last line says how it went. Words after `npm test --` choose files, as
 * `npm test -- test/unit`; the check is left out then. `--all` runs every test, but of cases that are alike, and of long ones, each third (TESTS_TURN: 0, 1 or
 * 2; not set: by the commit), in an hour; after them those in test/cluster,
 * which cut the nodes of a RabbitMQ cluster off from one another, as root, so that neither disturbs the other's times; then the
 * packages as a new user has them, in short, and last what a container engine runs, each trial one test. Where there can be no
 * such cluster, or no registry can be reached, the last line says why, and where the engine has no images yet a line before it.
 */

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const words = process.argv.slice(2).filter((word) => word !== "--all");
const ofCluster = words.filter((word) => word.startsWith("test/cluster"));
const ofOthers = words.filter((word) => !ofCluster.includes(word));
const isAll = words.length === 0 && process.argv.includes("--all");
const isMainPath = words.length === 0 && !isAll;
const withCluster = ofCluster.length > 0 || isAll;
if (isMainPath) process.env.TESTS = "main-path";
if (isAll) process.env.TESTS_TURN ??= String(turnOfCommit());

/** Of cases that are alike every third runs, by the commit: test/support/runs/turns.ts. 0 where this is no clone of the repository. */
function turnOfCommit() {
  const { stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
  return Number.parseInt(stdout?.trim().slice(-4) || "0", 16) % 3;
}

async function runCheck() {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (scripts.check === undefined || words.length > 0) return NOTHING;
  return runAsTest("check", "npm", ["run", "--silent", "check"]);
}

/** @param {string} script of package.json @param {string} program @param {string[]} args what it does */
async function runAsTest(script, program, args) {
  const startedAt = performance.now();
  const exitCode = await runShown(program, args, root);
  isInterrupted ||= exitCode > 128;
  say(`${exitCode === 0 ? "✓" : "✗"} npm run ${script} ${Math.round(performance.now() - startedAt)}ms`);
  return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: 0 };
}

/** @param {string[]} chosen parts of paths; none: all @param {string[]} [options] */
async function runTests(chosen, options) {
  const { report, exitCode } = await runVitest(root, chosen, options);
  isInterrupted ||= exitCode > 128;
  failures.push(...failuresOf(report, root));
  return tallyOf(report, exitCode);
}

/** Why there is no cluster here, "" where there is one. */
async function whyNoClusterHere() {
  await provideNetworkPrograms();
  return whyNoCluster() ?? "";
}

/** @type {string[]} */
const failures = [];
let isInterrupted = false; // Ctrl-C means all of them
const tallies = [await runCheck()];
const ofManifests = words.length === 0 || words.some((word) => word.includes("deploy"));
if (ofManifests) await provideKubectl();
const ofProxy = isAll || words.some((word) => "test/browser/behind-nginx.test.ts".includes(word));
if (ofProxy) await provideNginx();
if (!isInterrupted && (ofOthers.length > 0 || ofCluster.length === 0)) tallies.push(await runTests(ofOthers));
const whyNot = withCluster && !isInterrupted ? await whyNoClusterHere() : "";
if (withCluster && !isInterrupted && whyNot === "") {
  process.env.WITH_CLUSTER = "1";
  tallies.push(await runTests(ofCluster, ["--project", "cluster"]));
}
const isWhole = isAll && !isInterrupted;
const whyNoPackages = isWhole ? await whyNoPackagesTrial(root) : "";
if (isWhole && whyNoPackages === "")
  tallies.push(await runAsTest("try-packages -- --short", process.execPath, ["scripts/try-packages.mjs", "--short"]));
const whyNoEngine = isWhole ? whyNoTrials(root) : "";
if (whyNoEngine !== "") say(`try-compose and try-pods were skipped: ${whyNoEngine}`);
else if (isWhole)
  for (const trial of findKubectl() === null ? ["try-compose"] : ["try-compose", "try-pods"])
    if (!isInterrupted) tallies.push(await runAsTest(trial, process.execPath, [`scripts/${trial}.mjs`]));
const total = tallies.reduce(sumOf);
for (const failure of failures) say(failure);
if (isMainPath) say("That was the main path of each promise; npm test -- --all runs every test, which takes about an hour.");
const ofWorkers = isAll || words.some((word) => word.includes("process-worker"));
const noPython = ofWorkers && spawnSync("python3", ["--version"]).status !== 0 ? "there is no python3" : "";
const noNginx = ofProxy && findNginx() === null ? WHY_NO_NGINX : "";
const ofPooler = isAll || words.some((word) => "test/integration/database-pooler.test.ts".includes(word));
const noPgbouncer = ofPooler && findPgbouncer() === null ? WHY_NO_PGBOUNCER : "";
const noKubectl = ofManifests && findKubectl() === null ? WHY_NO_KUBECTL : "";
say(
  lastLineOf(total, {
    "the tests of test/cluster": whyNot,
    "those of k8s/": noKubectl,
    "those with a worker in Python": noPython,
    "those behind nginx": noNginx,
    "those behind PgBouncer": noPgbouncer,
    "those of the packages, as a new user has them,": whyNoPackages,
  }),
);
process.exitCode = total.failed > 0 ? 1 : 0;
