import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { holdOnLeash } from "../processes/leash.mjs";
import { endLeftover, removePidFile, sendSignal, writePidFile } from "../processes/pid-file.mjs";

/**
 * @typedef {object} ServerProcess
 * @property {number} pid
 * @property {Promise<string>} exited resolves when it ended, by itself or not, to how: "exit code 1", "SIGKILL".
 * @property {() => string | null} outcome the same without waiting, null while it runs.
 */

/**
 * Starts a server's program in a session of its own, its output appended to a file, its pid noted in another; a
 * leftover of an earlier start that this pid file names is ended first.
 *
 * @param {{ program: string, args: string[], env?: NodeJS.ProcessEnv, cwd: string, logFile: string, pidFile: string,
 *           uid?: number, gid?: number, leftoverSignal?: NodeJS.Signals }} options
 * @returns {Promise<ServerProcess>}
 */
export async function startServerProcess({ program, args, env, cwd, logFile, pidFile, uid, gid, leftoverSignal }) {
  await endLeftover(pidFile, { signal: leftoverSignal });
  const log = openSync(logFile, "a", 0o600);
  const child = spawn(program, args, { cwd, env, uid, gid, detached: true, stdio: ["ignore", log, log] });
  closeSync(log);
  holdOnLeash(child);
  /** @type {string | null} */
  let outcome = null;
  /** @type {Promise<string>} */
  const exited = new Promise((resolve) => {
    child.once("error", (error) => resolve((outcome = `${program} could not be started: ${error.message}`)));
    child.once("exit", (code, signal) => resolve((outcome = signal ?? `exit code ${code}`)));
  });
  void exited.then(() => removePidFile(pidFile));
  if (child.pid !== undefined) writePidFile(pidFile, child.pid);
  return { pid: child.pid ?? -1, exited, outcome: () => outcome };
}

/**
 * Asks with a signal, then ends it with SIGKILL. Does nothing if it is gone already.
 *
 * @param {ServerProcess} server
 * @param {NodeJS.Signals} signal
 * @param {number} graceMs
 */
export async function endServerProcess(server, signal, graceMs) {
  if (server.outcome() !== null) return;
  sendSignal(server.pid, signal);
  const kill = setTimeout(() => sendSignal(server.pid, "SIGKILL"), graceMs);
  await server.exited;
  clearTimeout(kill);
}

/**
 * Polls until the server answers. Fails as soon as its process is gone, with the end of its log.
 *
 * @param {ServerProcess} server
 * @param {{ name: string, isReady: () => Promise<boolean> | boolean, logFiles: string[], timeoutMs: number }} options
 */
export async function waitUntilReady(server, { name, isReady, logFiles, timeoutMs }) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const outcome = server.outcome();
    if (outcome !== null) throw new Error(`${name} ended while it started (${outcome}).${lastLines(logFiles)}`);
    if (await isReady()) return;
    if (performance.now() > deadline) {
      throw new Error(`${name} was not ready within ${timeoutMs / 1000} s.${lastLines(logFiles)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * The end of what was logged, as a part of an error message.
 *
 * @param {string[]} logFiles those that were never written are passed over
 * @param {number} [count]
 */
export function lastLines(logFiles, count = 8) {
  return logFiles.map((file) => endOf(file, count)).join("");
}

/**
 * @param {string} logFile
 * @param {number} count
 */
function endOf(logFile, count) {
  if (!existsSync(logFile)) return "";
  const lines = readFileSync(logFile, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "");
  return lines.length === 0 ? "" : `\nThe end of ${logFile}:\n  ${lines.slice(-count).join("\n  ")}`;
}
