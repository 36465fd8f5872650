import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runShown } from "./run-shown.mjs";

/**
 * Runs tests, their output shown as it comes.
 *
 * @param {string} root of the repository
 * @param {string[]} words parts of paths that choose files; none: all
 * @param {string[]} [options] Vitest's
 * @returns {Promise<{ report: import("./tally.mjs").Report | null, exitCode: number }>} no report if Vitest ended before
 *   it could write one
 */
export async function runVitest(root, words, options = []) {
  const dir = mkdtempSync(join(tmpdir(), "unacked-report-"));
  const reportFile = join(dir, "report.json");
  try {
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${reportFile}`];
    const exitCode = await runShown(process.execPath, [vitest, "run", ...reporters, ...options, ...words], root);
    return { report: read(reportFile), exitCode };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @param {string} file */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
}
