import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { say } from "./progress.mjs";
import { runShown } from "./test/run-shown.mjs";

const HELP = `Usage: npm run soak -- [options]

A random walk for as long as you like: users create, stop and restart observers while services, manager, broker and
database are killed, frozen and cut off; after each 20 steps every observer has to be where it has to be. Also kills the
holder of one message 30 times. First all of it on classic, then on quorum work queues. Each step is printed, a summary
at the end; exit 1 on a violation.

  --minutes N        how long in all (20)
  --seed N           of the first round, the next ones count up (a random one)
  --queue-type TYPE  classic or quorum alone
`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    "queue-type": { type: "string", default: "classic,quorum" },
    help: { type: "boolean", short: "h" },
  },
});

if (values.help) process.stdout.write(HELP);
else if (!(Number(values.minutes) > 0) || !Number.isInteger(Number(values.seed))) {
  process.stderr.write(`--minutes takes a number above 0, --seed a whole one.\n\n${HELP}`);
  process.exitCode = 1;
} else await soak();

async function soak() {
  const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
  process.env.SOAK_MINUTES = values.minutes;
  process.env.SOAK_SEED = values.seed;
  process.env.SOAK_QUEUE_TYPES = values["queue-type"];
  say(`Soak of ${values.minutes} minutes, seed ${values.seed}, work queues: ${values["queue-type"]}`);
  const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--project", "soak", "--disable-console-intercept"];
  process.exitCode = await runShown(process.execPath, vitest, root);
  say(
    process.exitCode === 0
      ? "Soak: nothing lost, nothing twice, nothing back from the dead"
      : `Soak: FAILED, seed ${values.seed}`,
  );
}
