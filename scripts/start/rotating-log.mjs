import { appendFileSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

const MOST_BYTES = 10 * 1024 * 1024;

/**
 * A log file of 10 MiB at most, and the one before it as `<path>.1`: what runs for ever must not fill the disk.
 *
 * @param {string} path emptied at the start
 * @returns {{ path: string, write: (chunk: Buffer) => void }}
 */
export function openRotatingLog(path) {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  let bytes = 0;
  return {
    path,
    write(chunk) {
      if (bytes > MOST_BYTES) {
        renameSync(path, `${path}.1`);
        bytes = 0;
      }
      appendFileSync(path, chunk);
      bytes += chunk.length;
    },
  };
}
