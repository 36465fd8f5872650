import { existsSync, watch } from "node:fs";
import { basename, dirname, sep } from "node:path";

/** Editors write a file in several steps, and several files at once. */
const QUIET_MS = 150;
const CODE = /\.([cm]?[jt]sx?|json)$/;

/**
 * The folder to look at: that of the observers, or all of `src` where it is in there, as they import from beside them.
 *
 * @param {string} observersDir
 */
export const watchedFolder = (observersDir) =>
  basename(dirname(observersDir)) === "src" ? dirname(observersDir) : observersDir;

/**
 * Calls `onSaved` once code has changed in the folder, or below, and has been quiet for a moment.
 *
 * @param {string} dir
 * @param {() => void} onSaved
 * @param {(why: string) => void} onTrouble it cannot be watched any more
 * @returns {() => void} ends it
 */
export function watchFolder(dir, onSaved, onTrouble) {
  /** @type {NodeJS.Timeout | undefined} */
  let quiet;
  const watcher = watch(dir, { recursive: true }, (_event, name) => {
    if (name !== null && !isCode(name)) return;
    clearTimeout(quiet);
    quiet = setTimeout(() => existsSync(dir) && onSaved(), QUIET_MS);
  });
  watcher.on("error", (error) => onTrouble(error.message));
  return () => {
    clearTimeout(quiet);
    watcher.close();
  };
}

/** @param {string} path below the folder */
export const isCode = (path) =>
  CODE.test(path) && !path.split(sep).some((part) => part === "node_modules" || part.startsWith("."));
