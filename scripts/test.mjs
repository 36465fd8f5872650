import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "./progress.mjs";
import { runShown } from "./test/run-shown.mjs";
import { runVitest } from "./test/run-vitest.mjs";
import { lastLineOf, tallyOf } from "./test/tally.mjs";

/**
 * `npm test`: the check of the sources (one test, as it counts), then every test; the last line says how it went. Words
 * after `npm test --` choose files, as `npm test -- test/unit`; the check is left out then.
 */

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const chosen = process.argv.slice(2);

async function runCheck() {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (scripts.check === undefined || chosen.length > 0) return { passed: 0, failed: 0, skipped: 0 };
  const startedAt = performance.now();
  const exitCode = await runShown("npm", ["run", "--silent", "check"], root);
  say(`${exitCode === 0 ? "✓" : "✗"} npm run check ${Math.round(performance.now() - startedAt)}ms`);
  return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: 0 };
}

const check = await runCheck();
const { report, exitCode } = await runVitest(root, chosen);
const tests = tallyOf(report, exitCode);
const total = {
  passed: check.passed + tests.passed,
  failed: check.failed + tests.failed,
  skipped: check.skipped + tests.skipped,
};
say(lastLineOf(total));
process.exitCode = total.failed > 0 ? 1 : 0;
