import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { holdOnLeash } from "./processes/leash.mjs";
import { say } from "./progress.mjs";
import { lastLineOf, tallyOf } from "./test/tally.mjs";

/**
 * `npm test`: the check of the sources (one test, as it counts), then every test; the last line says how it went. Words
 * after `npm test --` choose files, as `npm test -- test/unit`; the check is left out then.
 */

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const chosen = process.argv.slice(2);

/**
 * Runs a program to its end, its output shown as it comes.
 *
 * @param {string} program
 * @param {string[]} args
 * @returns {Promise<number>} its exit code; 1 if a signal ended it
 */
function runShown(program, args) {
  const child = spawn(program, args, { cwd: root, stdio: "inherit" });
  holdOnLeash(child); // should we be killed with -9, it goes too, and with it the servers that it started
  // Ctrl-C reaches it by itself, and we stay to count; SIGTERM comes to us alone.
  const passOn = () => void child.kill("SIGTERM");
  process.on("SIGTERM", passOn);
  return new Promise((resolve) => {
    child.once("error", (error) => {
      say(String(error));
      resolve(1);
    });
    child.once("exit", (code) => resolve(code ?? 1));
  }).finally(() => process.off("SIGTERM", passOn));
}

async function runCheck() {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (scripts.check === undefined || chosen.length > 0) return { passed: 0, failed: 0, skipped: 0 };
  const startedAt = performance.now();
  const exitCode = await runShown("npm", ["run", "--silent", "check"]);
  say(`${exitCode === 0 ? "✓" : "✗"} npm run check ${Math.round(performance.now() - startedAt)}ms`);
  return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: 0 };
}

async function runVitest() {
  const dir = mkdtempSync(join(tmpdir(), "unacked-report-"));
  const reportFile = join(dir, "report.json");
  try {
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
    const exitCode = await runShown(process.execPath, [
      join(root, "node_modules/vitest/vitest.mjs"),
      "run",
      ...reporters,
      ...chosen,
    ]);
    return tallyOf(readReport(reportFile), exitCode);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @param {string} file */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null; // Vitest ended before it could write one
  }
}

process.on("SIGINT", () => undefined);
const check = await runCheck();
const tests = await runVitest();
const total = {
  passed: check.passed + tests.passed,
  failed: check.failed + tests.failed,
  skipped: check.skipped + tests.skipped,
};
say(lastLineOf(total));
process.exitCode = total.failed > 0 ? 1 : 0;
