import { appendFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { complain } from "../progress.mjs";

const MOST_BYTES = 10 * 1024 * 1024;

/**
 * A log file of 10 MiB at most, and the one before it as `<path>.1`: what runs for ever must not fill the disk. What cannot be
 * written (the disk is full) is dropped: a line is worth less than the servers, which would end with this process.
 *
 * @param {string} path begun anew at the start: what was there is then the one before
 * @returns {{ path: string, write: (chunk: Buffer) => void }} `write` never throws
 */
export function openRotatingLog(path) {
  makeFolder();
  if (existsSync(path)) renameSync(path, `${path}.1`);
  let bytes = 0;
  let isTold = false;

  function makeFolder() {
    mkdirSync(dirname(path), { recursive: true });
  }

  /** @param {Buffer} chunk */
  function append(chunk) {
    if (bytes > MOST_BYTES) {
      renameSync(path, `${path}.1`);
      bytes = 0;
    }
    appendFileSync(path, chunk);
    bytes += chunk.length;
  }

  /** Somebody has removed the file, or its folder. @param {Buffer} chunk */
  function appendToNew(chunk) {
    makeFolder();
    bytes = 0;
    append(chunk);
  }

  /** @param {Buffer} chunk */
  function write(chunk) {
    try {
      try {
        append(chunk);
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
        appendToNew(chunk);
      }
    } catch (error) {
      if (!isTold) complain(`${path} cannot be written, its lines are dropped: ${/** @type {Error} */ (error).message}`);
      isTold = true;
    }
  }

  return { path, write };
}
