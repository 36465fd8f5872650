import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What tells one life of a pid from the next: pids are given out again, so a number in a file proves nothing by itself.
 * On Linux the boot's id and the start time in ticks, elsewhere what `ps` says of the start.
 *
 * @param {number} pid
 * @returns {string | null} null when no such process runs (a zombie does not run).
 */
export function processIdentity(pid) {
  if (process.platform !== "linux") return identityFromPs(pid);
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in brackets and may itself hold brackets and spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    return `${bootId()}:${fields[19]}`;
  } catch {
    return null; // gone, or gone while it was read
  }
}

/**
 * Resolves to true once that process is gone, to false when it still runs after the time given.
 *
 * @param {number} pid
 * @param {string} identity
 * @param {number} timeoutMs
 */
export async function waitUntilGone(pid, identity, timeoutMs) {
  const deadline = performance.now() + timeoutMs;
  while (processIdentity(pid) === identity) {
    if (performance.now() >= deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
}

/**
 * The words a process was started with, "" when there is no such process.
 *
 * @param {number} pid
 */
export function commandLine(pid) {
  try {
    // Not every Linux container has ps.
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return ""; // no such process
  }
}

/** @type {string | undefined} */
let knownBootId;

function bootId() {
  knownBootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  return knownBootId;
}

/** @param {number} pid */
function identityFromPs(pid) {
  try {
    const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
    return line === "" || line.startsWith("Z") ? null : line.replace(/^\S+\s+/, "");
  } catch {
    return null; // ps exits 1 when there is no such process
  }
}
