import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { complain, PlainError, say } from "./progress.mjs";
import { debianRootWithRabbitmq, whyNoOtherRoot } from "./servers/debian-root.mjs";
import { startRabbitmq } from "./servers/rabbitmq.mjs";
import { runShown } from "./test/run-shown.mjs";

const HELP = `Usage: node scripts/rabbitmq-suite.mjs SUITE [-- COMMAND ...]

Makes the RabbitMQ of another Debian release run here: in a folder of its own (.unacked/suites/SUITE, made at the first
use), as root, without touching the system. SUITE is trixie (RabbitMQ 4.0), sid (4.3 or later), or any other.

With a COMMAND: runs it with RABBITMQ_ROOT set, so that whatever it starts as RabbitMQ is that one:
  node scripts/rabbitmq-suite.mjs trixie -- npm run test:faults
Without: starts a node on loopback, prints its addresses, and stops it at Ctrl-C.
`;

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** @param {string[]} args */
async function main([suite = "--help", ...rest]) {
  if (!/^[a-z]+$/.test(suite)) {
    process.stdout.write(HELP);
    return suite === "--help" ? 0 : 1;
  }
  try {
    const reason = whyNoOtherRoot();
    if (reason !== null) throw new PlainError(reason);
    process.env.RABBITMQ_ROOT = await debianRootWithRabbitmq(suite, join(root, ".unacked/suites"));
  } catch (error) {
    if (!(error instanceof PlainError)) throw error;
    say(`Skipped: no RabbitMQ of Debian ${suite} can run here: ${error.message}`);
    return 0;
  }
  const [, program, ...words] = rest;
  return program === undefined ? runNode(suite) : runShown(program, words, process.cwd());
}

/** @param {string} suite */
async function runNode(suite) {
  const dir = mkdtempSync(join(tmpdir(), `unacked-${suite}-`));
  const broker = await startRabbitmq({ dir });
  say(`AMQP_URL=${broker.amqpUrl}\nAMQP_MANAGEMENT_URL=${broker.managementUrl}`);
  await new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, resolve);
    void broker.exited.then(resolve);
  });
  await broker.stop();
  rmSync(dir, { recursive: true, force: true });
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
