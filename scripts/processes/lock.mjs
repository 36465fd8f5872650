import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { processIdentity } from "./identity.mjs";

/**
 * Takes a lock file for this process, for as long as it lives. The file names its owner, so that one that was killed
 * does not lock the clone for ever.
 *
 * @param {string} path
 * @returns {{ release: () => void } | { ownerPid: number }} the pid of the process that has it, if it lives.
 */
export function takeLock(path) {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 }); // logs and data will lie beside it
  const own = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid) });
  for (;;) {
    try {
      writeFileSync(path, own, { flag: "wx" });
      return { release: () => rmSync(path, { force: true }) };
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== "EEXIST") throw error;
    }
    const found = readLock(path);
    if (found.owner !== null) return { ownerPid: found.owner };
    moveAside(path, found.text);
  }
}

/** @param {string} path */
function readLock(path) {
  let text = "";
  try {
    text = readFileSync(path, "utf8");
    const { pid, identity } = JSON.parse(text);
    return { text, owner: processIdentity(pid) === identity ? Number(pid) : null };
  } catch {
    return { text, owner: null }; // released in this moment, or cut short by a crash
  }
}

/**
 * Removes a dead owner's lock. Renamed rather than removed, as only one of two who find it dead at once gets it by its
 * name; and should the other have taken the lock again between our look and the rename, it gets it back.
 *
 * @param {string} path
 * @param {string} deadText
 */
function moveAside(path, deadText) {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // another has moved it already: look again
  }
  if (readFileSync(aside, "utf8") === deadText) rmSync(aside, { force: true });
  else renameSync(aside, path);
}
