import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sendSignal } from "../../scripts/processes/pid-file.mjs";
import { endServerProcess, lastLines, startServerProcess } from "../../scripts/servers/server-process.mjs";
import { nowMs } from "../meter/clock.mjs";
import { waitUntil } from "./wait-until.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START_TIMEOUT_MS = 60_000;

/**
 * @typedef {object} Program one `node` process under measurement
 * @property {string} name
 * @property {number} pid
 * @property {Promise<string>} exited to how
 * @property {(signal: NodeJS.Signals) => number} signal sends it; answers when (CLOCK_MONOTONIC, ms)
 * @property {() => Promise<void>} end kills it, if it still runs
 */

/** Starts `node <file>` processes that log into files, as they would in production, and ends them all. */
export class Programs {
  #dir;
  #count = 0;
  /** @type {Set<Program>} */
  #running = new Set();

  /** @param {string} dir for logs */
  constructor(dir) {
    this.#dir = dir;
    mkdirSync(dir, { recursive: true });
  }

  /**
   * @param {string} name
   * @param {{ file: string, args?: string[], env: Record<string, string>, isReady?: () => Promise<boolean> }} options
   *   `file` from the repository's root. Without `isReady` it is ready when it has written a line "ready".
   * @returns {Promise<Program>} when it is ready
   */
  async start(name, { file, args = [], env, isReady }) {
    this.#count += 1;
    const base = join(this.#dir, `${this.#count}-${name}`);
    const logFile = `${base}.log`;
    const child = await startServerProcess({
      program: process.execPath,
      args: [...nodeArgs(name, this.#dir), file, ...args],
      env: { ...process.env, ...env },
      cwd: ROOT,
      logFile,
      pidFile: `${base}.pid.json`,
    });
    const program = {
      name,
      pid: child.pid,
      exited: child.exited,
      signal: (/** @type {NodeJS.Signals} */ signal) => {
        const atMs = nowMs();
        sendSignal(child.pid, signal);
        return atMs;
      },
      end: () => endServerProcess(child, isProfiled(name) ? "SIGTERM" : "SIGKILL", 30_000),
    };
    this.#running.add(program);
    void child.exited.then(() => this.#running.delete(program));
    const ready = async () => {
      if (child.outcome() !== null)
        throw new Error(`${name} ended while it started (${child.outcome()}).${lastLines([logFile])}`);
      return isReady === undefined ? /^ready$/m.test(readFileSync(logFile, "utf8")) : await isReady();
    };
    await waitUntil(`${name} to be ready`, ready, { everyMs: 25, timeoutMs: START_TIMEOUT_MS });
    return program;
  }

  async endAll() {
    await Promise.all([...this.#running].map((program) => program.end()));
  }
}

/** BENCH_PROFILE=manager,alpha: each process of such a name writes a CPU profile beside its log, which then stays, as it ends. */
const isProfiled = (/** @type {string} */ name) => (process.env.BENCH_PROFILE ?? "").split(",").includes(name);

function nodeArgs(/** @type {string} */ name, /** @type {string} */ dir) {
  return ["--expose-gc", ...(isProfiled(name) ? ["--cpu-prof", `--cpu-prof-dir=${dir}`] : [])];
}
