import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { complain, say } from "./progress.mjs";
import { whyNoCluster } from "./servers/cluster/cluster.mjs";
import { provideNetworkPrograms } from "./setup/network-programs.mjs";
import { runShown } from "./test/run-shown.mjs";

const PLACES = ["classic", "quorum", "cluster"];
const HELP = `Usage: npm run soak -- [options]

A random walk for as long as you like: users create, stop and restart observers while services, manager, broker and
database are killed, frozen and cut off; after each 20 steps every observer has to be where it has to be. Also kills the
holder of one message 30 times. All of it on classic work queues, then on quorum work queues, then (as root, where network
namespaces can be had) on a cluster of three nodes under pause_minority, which lose each other as well. Each step is printed,
a summary at the end; exit 1 on a violation.

  --minutes N        how long in all (20)
  --seed N           of the first round, the next ones count up (a random one)
  --on PLACES        classic, quorum, cluster: one of them, or some with commas between (all)
`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "20" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1_000_000)) },
    on: { type: "string", default: PLACES.join(",") },
    help: { type: "boolean", short: "h" },
  },
});

const asked = values.on.split(",");

if (values.help) process.stdout.write(HELP);
else if (!(Number(values.minutes) > 0) || !Number.isInteger(Number(values.seed)))
  refuse("--minutes takes a number above 0, --seed a whole one.");
else if (asked.some((place) => !PLACES.includes(place))) refuse(`--on takes ${PLACES.join(", ")}.`);
else await soak(await placesHere());

/** Those that were asked for and can be had. */
async function placesHere() {
  if (!asked.includes("cluster")) return asked;
  await provideNetworkPrograms();
  const whyNot = whyNoCluster();
  if (whyNot === null) return asked;
  complain(`Nothing on a cluster here: ${whyNot}.`);
  return asked.filter((place) => place !== "cluster");
}

/** @param {string[]} places */
async function soak(places) {
  if (places.length === 0) {
    process.exitCode = 1;
    return;
  }
  const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
  process.env.SOAK_MINUTES = values.minutes;
  process.env.SOAK_SEED = values.seed;
  process.env.SOAK_ON = places.join(",");
  say(`Soak of ${values.minutes} minutes, seed ${values.seed}, on: ${places.join(", ")}`);
  const vitest = [join(root, "node_modules/vitest/vitest.mjs"), "run", "--project", "soak", "--disable-console-intercept"];
  process.exitCode = await runShown(process.execPath, vitest, root);
  say(
    process.exitCode === 0
      ? "Soak: nothing lost, nothing twice, nothing back from the dead"
      : `Soak: FAILED, seed ${values.seed}`,
  );
}

/** @param {string} why */
function refuse(why) {
  complain(`${why}\n\n${HELP}`);
  process.exitCode = 1;
}
