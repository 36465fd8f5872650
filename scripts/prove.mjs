import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { complain, PlainError } from "./progress.mjs";
import { whyNoCluster } from "./servers/cluster/cluster.mjs";
import { debianRootWithRabbitmq, whyNoOtherRoot } from "./servers/debian-root.mjs";
import { provideNetworkPrograms } from "./setup/network-programs.mjs";
import { otherNode } from "./setup/other-node.mjs";
import { runShown } from "./test/run-shown.mjs";

const HELP = `Usage: npm run prove -- SUBJECT [options]

Proves a promise on all its cases and with full counts, which takes too long for npm test, and prints the figures.

  partitions             every way in which three nodes of RabbitMQ may lose each other: how long two runs of an observer
                         overlap, by their own acts. As root; about 20 minutes
  cluster                a system on three nodes of RabbitMQ: nodes are killed, one, the leader, two, and restarted in turn; how long
                         10,000 held messages keep a queue's log from being cut (HELD_MINUTES, default 10). As root; half an hour
  slots                  what observers may do to their process, and what it costs others: every poison for a minute,
                         culprits among 200, a slot killed every second under 1,000, 150 rounds of faults. About an hour
  tasks                  100,000 on five services that are killed; twenty writers to one key; limits of types, beside a
                         million others and for half a minute each; 200,000 beside an alarm, a purge, a killed manager,
                         midnight and a snapshot of ten minutes; pages of the list beside a million that have ended. 35 minutes
  flows                  1,000 flows of 20 tasks while services and managers are killed; 10,000 tasks in one flow. Ten minutes
  timers                 100,000 due in one second, two managers of which one is killed; 100,000 over a minute; how many are
                         set, cancelled, fired and gone a second; 10,000 cancels that race the firing. Five minutes
  schedules              1,000 schedules each second for a minute, and 10,000 due in the same minute, over two managers that are killed
                         in turn. Ten minutes
  changes                1,000 observers that are changed three times each while services are killed, half of them as they run; delete,
                         pause, change, restart and resume from twenty clients on the same names for a minute. Ten minutes
  checkpoints            1,000 observers that count and save each step while services, managers, broker and database are killed; 1,000
                         that save 64 KiB as fast as they can, the database away for five minutes; the shipped types. Half an hour
  silence                a feed that falls silent without closing, in recorded traffic; an alarm of two minutes. Ten minutes
  balance                a rolling restart of six services with 3,000 observers, which are even again three minutes later; a
                         service that flaps each 30 s. Fifteen minutes
  standby                five times a primary of PostgreSQL is killed under load and its standby promoted, asynchronous and synchronous; a
                         database that takes 2 s more for each statement, and one whose disk is full; backup and restore. Fifteen minutes
  pages                  twelve tabs beside bulk work on thousands, and beside the figures of tasks. Five minutes
  --release RELEASE      of partitions and cluster, the RabbitMQ of this Debian: bookworm (3.10), trixie (4.0), sid (4.3 or later).
                         Default: the installed one
  --node MAJOR           with this version of Node, from npm: 22 or 24, for example. Default: the one that runs this
  --only TEXT            only the cases with this in their names
`;

/** By subject: the project of vitest.config.ts, and the files. */
const SUBJECTS = {
  partitions: { project: "cluster", files: ["test/cluster/partitions.test.ts"] },
  cluster: { project: "cluster", files: ["test/cluster/nodes", "test/cluster/held-log", "test/cluster/upgraded-nodes"] },
  slots: { project: "servers", files: ["test/e2e/slots-"] },
  timers: { project: "servers", files: ["test/e2e/timers-proofs"] },
  tasks: {
    project: "servers",
    files: [
      "test/e2e/tasks-limits",
      "test/e2e/tasks-urgent",
      "test/e2e/tasks-keys",
      "test/e2e/tasks-none-lost",
      "test/e2e/tasks-edges",
      "test/integration/task-limits",
      "test/integration/task-claims-behind-dead",
      "test/integration/task-many-rows",
    ],
  },
  flows: { project: "servers", files: ["test/e2e/flows-under-kills", "test/e2e/flows-large"] },
  schedules: { project: "servers", files: ["test/e2e/schedules"] },
  changes: {
    project: "servers",
    files: [
      "test/e2e/observers-changed-killed",
      "test/e2e/observers-raced",
      "test/e2e/hot-update",
      "test/e2e/admitted-walk",
    ],
  },
  checkpoints: {
    project: "servers",
    files: ["test/e2e/checkpoints", "test/e2e/continuity", "test/e2e/admitted-failover", "test/e2e/mixed-fleet"],
  },
  silence: { project: "servers", files: ["test/e2e/silence"] },
  balance: { project: "servers", files: ["test/e2e/balance-rolling"] },
  pages: { project: "servers", files: ["test/browser/status-page-bulk", "test/browser/status-page-task-figures"] },
  standby: { project: "servers", files: ["test/e2e/standby", "test/e2e/database-slow-or-full", "test/e2e/backup"] },
};

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");

/** @returns {Promise<number>} the exit code */
async function main() {
  const { values, positionals } = parse();
  const [subject = ""] = positionals;
  const known = Object.entries(SUBJECTS).find(([name]) => name === subject)?.[1];
  if (values.help || known === undefined) {
    process.stdout.write(HELP);
    return values.help ? 0 : 1;
  }
  if (known.project === "cluster") await prepareCluster(values.release);
  if (subject === "pages") await runShown(process.execPath, [join(root, "scripts/setup.mjs"), "--with-browser"], root);
  process.env.PROVE = subject;
  const node = values.node === undefined ? process.execPath : await otherNode(root, values.node);
  const vitest = [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--project",
    known.project,
    "--disable-console-intercept",
    "--no-file-parallelism",
  ];
  const only = values.only === undefined ? [] : ["-t", values.only];
  return runShown(node, [...vitest, ...only, ...known.files], root);
}

/** @param {string | undefined} release */
async function prepareCluster(release) {
  if (release !== undefined) await useRelease(release);
  await provideNetworkPrograms();
  const whyNot = whyNoCluster();
  if (whyNot !== null) throw new PlainError(`This cannot be proven here: ${whyNot}.`);
  process.env.WITH_CLUSTER = "1";
}

/** @param {string} release */
async function useRelease(release) {
  if (new RegExp(`^VERSION_CODENAME=${release}$`, "m").test(readFileSync("/etc/os-release", "utf8"))) return; // installed here
  const reason = whyNoOtherRoot();
  if (reason !== null) throw new PlainError(`No RabbitMQ of Debian ${release} can run here: ${reason}.`);
  process.env.RABBITMQ_ROOT = await debianRootWithRabbitmq(release, join(root, ".unacked/suites"));
}

function parse() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        release: { type: "string" },
        node: { type: "string" },
        only: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new PlainError(`${/** @type {Error} */ (error).message}\n\n${HELP}`);
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
