import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { processIdentity, waitUntilGone } from "./identity.mjs";

/**
 * Notes that a process runs, so that the next program after a crash can find it and end it.
 *
 * @param {string} path
 * @param {number} pid
 */
export function writePidFile(path, pid) {
  mkdirSync(dirname(path), { recursive: true });
  // Renamed into place: a reader never sees half a file.
  writeFileSync(`${path}.new`, JSON.stringify({ pid, identity: processIdentity(pid) }));
  renameSync(`${path}.new`, path);
}

/** @param {string} path */
export function removePidFile(path) {
  rmSync(path, { force: true });
}

/**
 * The process that a pid file names, if it still is that very process.
 *
 * @param {string} path
 * @returns {{ pid: number, identity: string } | null}
 */
export function readPidFile(path) {
  let noted;
  try {
    noted = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null; // no file, or one that a full disk cut short: it names nobody
  }
  const { pid, identity } = noted ?? {};
  if (!Number.isInteger(pid) || typeof identity !== "string") return null;
  return processIdentity(pid) === identity ? { pid, identity } : null;
}

/**
 * Ends what an earlier, crashed start left behind, and forgets it. A process that merely got the same pid is left alone.
 *
 * @param {string} path
 * @param {{ signal?: NodeJS.Signals, graceMs?: number }} [options] the signal to ask with, and the time until SIGKILL.
 * @returns {Promise<number | null>} the pid that was ended, or null when there was nothing to end.
 */
export async function endLeftover(path, { signal = "SIGTERM", graceMs = 10_000 } = {}) {
  const leftover = readPidFile(path);
  if (leftover !== null) await endProcess(leftover.pid, leftover.identity, signal, graceMs);
  removePidFile(path);
  return leftover?.pid ?? null;
}

/**
 * @param {number} pid
 * @param {string} identity
 * @param {NodeJS.Signals} signal
 * @param {number} graceMs
 */
async function endProcess(pid, identity, signal, graceMs) {
  sendSignal(pid, signal);
  if (await waitUntilGone(pid, identity, graceMs)) return;
  sendSignal(pid, "SIGKILL");
  if (await waitUntilGone(pid, identity, 5_000)) return;
  throw new Error(`Process ${pid} does not end, even by SIGKILL. Look at it with: ps -fp ${pid}`);
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 * @returns {boolean} false when the process was gone already.
 */
export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ESRCH") return false;
    throw error;
  }
}
