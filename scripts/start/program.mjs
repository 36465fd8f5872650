import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { holdOnLeash } from "../processes/leash.mjs";
import { removePidFile, sendSignal, writePidFile } from "../processes/pid-file.mjs";
import { PlainError } from "../progress.mjs";
import { decodeLogLine, isSerious, meaningfulLines } from "./log-lines.mjs";
import { readOutputLines } from "./output-lines.mjs";
import { openRotatingLog } from "./rotating-log.mjs";

const START_TIMEOUT_MS = 60_000;
// A service drains for some seconds; one that does not come to an end must not keep the terminal for ever.
const STOP_GRACE_MS = 30_000;

/**
 * One of our own programs that can be started, stopped and started again.
 *
 * @typedef {object} Program
 * @property {string} name
 * @property {number} pid of the process itself, in its present life
 * @property {string} url where it listens, as it says itself
 * @property {string | undefined} [complaint] its last warning or error, in words, while it is not ready yet
 * @property {Promise<string>} exited of the present life: resolves when it ended, to how
 * @property {() => Promise<void>} start resolves when it is ready; rejects when it ended before, with what it said last
 * @property {() => Promise<void>} stop by SIGTERM
 */

/**
 * @param {{ name: string, command: string[], env: NodeJS.ProcessEnv, cwd: string, logFile: string, pidFile: string,
 *           readyPath?: string, onLine?: (line: string) => void, freshCommand?: string }} options `readyPath` answers 200 when it
 *   is ready; without one, listening is enough. `freshCommand` is what begins with empty data.
 * @returns {Program}
 */
export function programOf(options) {
  const { name, command, env, cwd, logFile, pidFile, readyPath, onLine, freshCommand = "npm start -- --fresh" } = options;
  const log = openRotatingLog(logFile);
  let pid = -1;
  let url = "";
  /** @type {string | null} */
  let outcome = "never started";
  let exited = Promise.resolve(outcome);
  /** @type {string | undefined} */
  let complaint;

  async function start() {
    // In a session of its own: Ctrl-C in a terminal goes to the whole group, and the order of stopping is ours.
    const [program = "", ...args] = command;
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    holdOnLeash(child);
    outcome = null;
    url = "";
    complaint = undefined;
    pid = child.pid ?? -1;
    exited = new Promise((resolve) => {
      child.once("error", (error) => resolve((outcome = error.message)));
      child.once("exit", (code, signal) => resolve((outcome = signal ?? `exit code ${code}`)));
    });
    void exited.then(() => removePidFile(pidFile));
    if (child.pid !== undefined) writePidFile(pidFile, child.pid);

    /** @type {string[]} */
    const lastLines = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", log.write);
      readOutputLines(stream, (line) => {
        lastLines.push(line);
        if (lastLines.length > 50) lastLines.shift();
        onLine?.(line);
        const entry = decodeLogLine(line);
        if (isSerious(entry)) [complaint] = meaningfulLines([line]);
        if (entry?.event === "listening" && typeof entry.url === "string") url = entry.url;
      });
    }
    await waitUntilReady(lastLines);
  }

  /** @param {string[]} lines */
  async function waitUntilReady(lines) {
    const deadline = performance.now() + START_TIMEOUT_MS;
    for (;;) {
      if (outcome !== null) {
        await sleep(50); // what it wrote last may still be on its way
        throw failure(`${name} ended while it started (${outcome})`, lines);
      }
      if (url !== "" && (readyPath === undefined || (await answersOk(url + readyPath)))) return;
      if (performance.now() > deadline) throw failure(`${name} was not ready within ${START_TIMEOUT_MS / 1000} s`, lines);
      await sleep(50);
    }
  }

  /**
   * @param {string} what
   * @param {string[]} lines
   */
  function failure(what, lines) {
    const said = meaningfulLines(lines);
    const quoted = said.length === 0 ? "It said nothing." : `It said:\n  ${said.join("\n  ")}`;
    // Exit code 2 says that a setting or an observer file is wrong, and a remedy what else: other data would not help.
    const isKnown = outcome?.includes("code 2") || lines.some((line) => decodeLogLine(line)?.remedy !== undefined);
    const advice = isKnown ? "" : ` To begin with empty data instead: ${freshCommand}`;
    return new PlainError(`${what}. ${quoted}\nAll it wrote is in ${log.path}.${advice}`);
  }

  async function stop() {
    if (outcome !== null) return;
    sendSignal(pid, "SIGTERM");
    const kill = setTimeout(() => sendSignal(pid, "SIGKILL"), STOP_GRACE_MS);
    await exited;
    clearTimeout(kill);
  }

  return {
    name,
    start,
    stop,
    get pid() {
      return pid;
    },
    get url() {
      return url;
    },
    get complaint() {
      return complaint;
    },
    get exited() {
      return exited;
    },
  };
}

/** @param {string} url */
async function answersOk(url) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false; // not listening yet
  }
}
