import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, whyPortIsTaken } from "../../scripts/servers/free-port.mjs";
import { findOnPath } from "../../scripts/servers/rabbitmq-program.mjs";
import { endServerProcess, startServerProcess, waitUntilReady } from "../../scripts/servers/server-process.mjs";
import { Books } from "../rig/books.mjs";
import { Statements } from "../rig/statements.mjs";
import { peerPackage } from "./peer-package.mjs";

/** Where a peer keeps its jobs: the rig's PostgreSQL, or a Redis of its own that writes each second, as its package sets it. */
export class PeerServer {
  #rig;
  #redis;

  /**
   * @param {import("../rig/rig.mjs").Rig} rig
   * @param {{ process: import("../../scripts/servers/server-process.mjs").ServerProcess, url: string } | undefined} redis
   */
  constructor(rig, redis) {
    this.#rig = rig;
    this.#redis = redis;
  }

  /** @param {import("../rig/rig.mjs").Rig} rig @param {import("./peers.mjs").Peer} peer */
  static async start(rig, peer) {
    return new PeerServer(rig, peer.server === "redis" ? await startRedis(join(rig.dir, "redis")) : undefined);
  }

  get pid() {
    return this.#redis?.process.pid ?? this.#rig.database.pid;
  }

  /** An empty place: a database, or Redis as it is, where each queue has a name of its own. */
  async freshUrl() {
    return this.#redis?.url ?? (await this.#rig.freshDatabase());
  }

  async stop() {
    if (this.#redis !== undefined) await endServerProcess(this.#redis.process, "SIGTERM", 5_000);
  }
}

/** @param {string} dir */
async function startRedis(dir) {
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const logFile = join(dir, "redis.log");
  const process = await startServerProcess({
    program: findOnPath("redis-server") ?? "redis-server",
    // BullMQ asks for noeviction, and for the append-only file where jobs must survive (docs.bullmq.io, "Going to production").
    args: [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--dir",
      dir,
      "--appendonly",
      "yes",
      "--maxmemory-policy",
      "noeviction",
    ],
    cwd: dir,
    logFile,
    pidFile: join(dir, "redis.pid.json"),
  });
  const isReady = async () => (await whyPortIsTaken(port)) !== null;
  await waitUntilReady(process, { name: "Redis", isReady, logFiles: [logFile], timeoutMs: 10_000 });
  return { process, url: `redis://127.0.0.1:${port}` };
}

/**
 * How many commands or statements the peer's server was sent so far.
 *
 * @param {import("../rig/rig.mjs").Rig} rig
 * @param {import("./peers.mjs").Peer} peer
 * @param {string} url
 * @returns {Promise<{ look: () => Promise<number>, close: () => Promise<void> }>}
 */
export async function commandCounter(rig, { server }, url) {
  if (server === "postgres") {
    const books = await Books.open(url);
    const statements = await Statements.of(rig, books);
    return {
      look: () => statements.calls(),
      close: async () => void (await Promise.all([statements.close(), books.close()])),
    };
  }
  const { default: Redis } = await peerPackage("ioredis");
  const client = new Redis(url);
  const look = async () => Number(/total_commands_processed:(\d+)/.exec(await client.info("stats"))?.[1]);
  return { look, close: async () => void client.disconnect() };
}
