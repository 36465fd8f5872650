import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { complain, PlainError, say } from "./progress.mjs";
import { givenServer } from "./servers/given-server.mjs";
import { Tallies, tableOf } from "./test/repeat-table.mjs";
import { runVitest } from "./test/run-vitest.mjs";
import { lastLineOf } from "./test/tally.mjs";

const HELP = `Usage: npm run test:faults -- [options] [files]

The fault suite: test/e2e/faults-* and the random walk, or the files (parts of their paths) that are named.

  --amqp-url URL         against this broker; files that need one of their own, to kill it or set it, are left out
  --management-url URL   its management API, with user and password (both also as AMQP_URL and AMQP_MANAGEMENT_URL)
  --queue-type TYPE      work queues: classic (default) or quorum
  --repeat N             N times, and a table of how often each test passed and failed
`;

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const E2E = "test/e2e";
/** What a test file says that wants a broker to itself. */
const OWN_BROKER = /\b(privateBroker|startRabbitmq|rabbitmqctl|memoryAlarm)\b/;

/** @returns {Promise<number>} the exit code */
async function main() {
  const { values, positionals } = parse();
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values["amqp-url"] !== undefined) process.env.AMQP_URL = values["amqp-url"];
  if (values["management-url"] !== undefined) process.env.AMQP_MANAGEMENT_URL = values["management-url"];
  if (values["queue-type"] !== undefined) process.env.WORK_QUEUE_TYPE = values["queue-type"];
  const files = choose(positionals, givenServer("AMQP_URL") !== undefined);
  const repeat = Number(values.repeat);
  const tallies = new Tallies();
  for (let i = 1; i <= repeat; i += 1) {
    if (repeat > 1) say(`\nRun ${i} of ${repeat}`);
    const { report, exitCode } = await runVitest(root, files);
    tallies.add(report, exitCode);
    if (exitCode > 128) break; // Ctrl-C means all of them
  }
  if (repeat > 1) say(`\n${tableOf(tallies)}`);
  say(lastLineOf(tallies.total));
  return tallies.total.failed > 0 ? 1 : 0;
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        "amqp-url": { type: "string" },
        "management-url": { type: "string" },
        "queue-type": { type: "string" },
        repeat: { type: "string", default: "1" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new PlainError(`${/** @type {Error} */ (error).message}\n\n${HELP}`);
  }
}

/**
 * @param {string[]} words
 * @param {boolean} isGivenBroker
 */
function choose(words, isGivenBroker) {
  const all = readdirSync(join(root, E2E)).filter((name) => name.endsWith(".test.ts"));
  const named = all
    .map((name) => `${E2E}/${name}`)
    .filter((file) => {
      return words.length === 0 ? /\/(faults-|random-walk)/.test(file) : words.some((word) => file.includes(word));
    });
  const needsOwn = (/** @type {string} */ file) => OWN_BROKER.test(readFileSync(join(root, file), "utf8"));
  const leftOut = isGivenBroker ? named.filter(needsOwn) : [];
  const chosen = named.filter((file) => !leftOut.includes(file));
  if (chosen.length === 0) throw new PlainError("No file of the fault suite fits.");
  if (leftOut.length > 0) say(`Left out, as they need a broker of their own:\n  ${leftOut.join("\n  ")}`);
  return chosen;
}

try {
  process.exitCode = await main();
} catch (error) {
  complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
