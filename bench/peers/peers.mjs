import { existsSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findOnPath } from "../../scripts/servers/rabbitmq-program.mjs";
import { runTool } from "../../scripts/setup/run-tool.mjs";

/**
 * A job queue that is measured beside, as far as it can run jobs without an end.
 *
 * @typedef {object} Peer
 * @property {string} name with its version
 * @property {string} module this folder's file that speaks to it
 * @property {"redis" | "postgres"} server
 * @property {Setting[]} settings
 * @property {(url: string, queue: string, setting: string) => Promise<PeerClient>} open
 */

/**
 * @typedef {object} Setting
 * @property {string} name "defaults", "best", or "fail-over": what brings jobs of a dead worker back soonest, and is not meant to make them faster
 * @property {string} note what is set, and where that is documented
 * @property {string} doneNote the same where jobs end
 * @property {string} [killNote] what is documented about a worker that dies
 * @property {number} [sweepMs] what brings the jobs of a dead worker back comes round this often; it is killed at any moment of that
 */

/**
 * @typedef {object} PeerClient
 * @property {(names: string[]) => Promise<unknown>} add resolves when all are accepted
 * @property {() => Promise<unknown>} [afterKill] what an operator would do at once
 * @property {() => Promise<number>} left jobs that are not over
 * @property {() => Promise<unknown>} close
 */

/**
 * What a peer's worker process calls, once, in its module.
 *
 * `isDone`: its jobs end at once, instead of never.
 *
 * @typedef {(options: { url: string, queue: string, setting: string, concurrency: number, isOneByOne: boolean, isDone: boolean,
 *   onJob: (name: string) => void }) => Promise<void>} Work
 */

const FOLDER = fileURLToPath(new URL(".", import.meta.url));

/**
 * The peers that can be measured here; installed at the first use, so that nobody gets them who does not measure.
 *
 * @param {(text: string) => void} say
 * @returns {Promise<Peer[]>}
 */
export async function providePeers(say) {
  await install(say);
  const modules = await Promise.all([import("./bullmq.mjs"), import("./pg-boss.mjs"), import("./graphile-worker.mjs")]);
  const peers = modules.map(({ peer }) => peer);
  if (findOnPath("redis-server") !== null) return peers;
  say("BullMQ is left out: there is no redis-server here (on Debian: apt-get install redis-server).");
  return peers.filter(({ server }) => server !== "redis");
}

/** @param {(text: string) => void} say */
async function install(say) {
  const installed = `${FOLDER}node_modules/.package-lock.json`;
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(`${FOLDER}package-lock.json`).mtimeMs) return;
  say("installing the peers into bench/peers");
  await runTool("npm", ["ci", "--no-audit", "--no-fund"], { cwd: FOLDER, advice: "Or leave the peers out: --no-peers" });
}
