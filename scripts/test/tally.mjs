/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Tally
 * @typedef {{ status: string, fullName?: string, duration?: number | null, failureMessages?: string[] }} TestResult
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number,
 *             testResults: { name?: string, status: string, message?: string, assertionResults: TestResult[] }[] }} Report
 *             Vitest's, in JSON; \`name\`: the file, absolute
 */

/**
 * Counts what Vitest's JSON report holds. A file that could not even be loaded holds no test that failed, and an error
 * outside every test belongs to none: each counts as one failure, so that no red run is ever counted green.
 *
 * @param {Report | null} report null when there is none
 * @param {number} exitCode Vitest's own
 * @returns {Tally}
 */
export function tallyOf(report, exitCode) {
  if (report === null) return { passed: 0, failed: 1, skipped: 0 };
  const brokenFiles = report.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
  const passed = report.numPassedTests;
  const skipped = report.numPendingTests + report.numTodoTests;
  const counted = report.numFailedTests + brokenFiles.length;
  const failed = counted === 0 && (exitCode !== 0 || passed === 0) ? 1 : counted;
  return { passed, failed, skipped };
}

/** @type {Tally} */
export const NOTHING = { passed: 0, failed: 0, skipped: 0 };

/** @param {Tally} a @param {Tally} b @returns {Tally} */
export const sumOf = (a, b) => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
});

/**
 * The last line of the output: `N passed, N failed`, the skipped if there are any, and which files were left out, and why.
 *
 * @param {Tally} tally
 * @param {Record<string, string>} [whyNot] by what they are; "": they were not left out, or not asked for
 */
export function lastLineOf({ passed, failed, skipped }, whyNot = {}) {
  const leftOut = Object.entries(whyNot).filter(([, why]) => why !== "");
  const told = leftOut.map(([what, why]) => `; ${what} were skipped: ${why}`).join("");
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}${told}`;
}
