import { tallyOf } from "./tally.mjs";

/** How each test went over several runs. */
export class Tallies {
  /** @type {Map<string, { passed: number, failed: number, durationsMs: number[] }>} */
  tests = new Map();
  total = { passed: 0, failed: 0, skipped: 0 };

  /**
   * @param {import("./tally.mjs").Report | null} report
   * @param {number} exitCode
   */
  add(report, exitCode) {
    const { passed, failed, skipped } = tallyOf(report, exitCode);
    this.total.passed += passed;
    this.total.failed += failed;
    this.total.skipped += skipped;
    for (const file of report?.testResults ?? []) {
      for (const { fullName = "", status, duration } of file.assertionResults) {
        const test = this.tests.get(fullName) ?? { passed: 0, failed: 0, durationsMs: [] };
        this.tests.set(fullName, test);
        if (status === "passed") test.passed += 1;
        if (status === "failed") test.failed += 1;
        test.durationsMs.push(duration ?? 0);
      }
    }
  }
}

/**
 * @param {Tallies} tallies
 * @returns {string} a line for each test: passes, failures, its shortest and longest time
 */
export function tableOf({ tests }) {
  const seconds = (/** @type {number} */ ms) => (ms / 1_000).toFixed(1).padStart(6);
  const lines = [...tests].map(([name, { passed, failed, durationsMs }]) => {
    const times = `${seconds(Math.min(...durationsMs))} – ${seconds(Math.max(...durationsMs))}`;
    return `${String(passed).padStart(6)} ${String(failed).padStart(6)}  ${times}  ${name.trim()}`;
  });
  return ["passed failed  seconds          test", ...lines].join("\n");
}
