import { statSync, watch } from "node:fs";
import { basename, dirname, sep } from "node:path";

/** Editors write a file in several steps, and several files at once. */
const QUIET_MS = 150;
/** A watcher does not tell that its folder came back, as between two branches, or was replaced by a rename. */
const LOOK_AGAIN_MS = 1_000;
const CODE = /\.([cm]?[jt]sx?|json)$/;

/**
 * The folder to look at: that of the observers, or all of `src` where it is in there, as they import from beside them.
 *
 * @param {string} observersDir
 */
export const watchedFolder = (observersDir) =>
  basename(dirname(observersDir)) === "src" ? dirname(observersDir) : observersDir;

/**
 * Calls `onSaved` once code has changed in the folder, or below, and has been quiet for a moment. Then it watches anew: on Linux Node
 * watches a file's inode, and many editors write another file and rename it. A folder that was removed and made again, or is another by now, has changed, too.
 *
 * @param {string} dir
 * @param {() => void} onSaved
 * @param {(why: string) => void} onTrouble it cannot be watched any more
 * @param {{ inner?: string, isWhole?: boolean }} options `inner`: the folder in it that may be another by now, too (default: the same);
 *   `isWhole`: with what is below it (the default)
 * @returns {() => void} ends it
 */
export function watchFolder(dir, onSaved, onTrouble, { inner = dir, isWhole = true } = {}) {
  const identity = () => identityOf([dir, inner]);
  /** @type {NodeJS.Timeout | undefined} */
  let quiet;
  let watched = identity();
  let watcher = begin();
  const looking = setInterval(() => {
    const found = identity();
    if (found === undefined) watched = undefined;
    else if (found !== watched) saved();
  }, LOOK_AGAIN_MS).unref();

  function begin() {
    const begun = watch(dir, { recursive: isWhole }, (_event, name) => {
      if (name !== null && !isCode(name) && identity() === watched) return;
      clearTimeout(quiet);
      quiet = setTimeout(saved, QUIET_MS);
    });
    begun.on("error", (error) => onTrouble(error.message));
    return begun;
  }

  function saved() {
    clearTimeout(quiet);
    watched = identity();
    if (watched === undefined) return; // its folder is looked for
    const before = watcher;
    try {
      watcher = begin();
      before.close();
    } catch (error) {
      onTrouble(/** @type {Error} */ (error).message);
    }
    onSaved();
  }

  return () => {
    clearTimeout(quiet);
    clearInterval(looking);
    watcher.close();
  };
}

/**
 * Another where one of these paths is of another folder; undefined: one of them is not there, or cannot be seen.
 *
 * @param {string[]} dirs
 */
function identityOf(dirs) {
  try {
    const stats = dirs.map((dir) => statSync(dir, { bigint: true }));
    return stats.map(({ dev, ino }) => `${dev}:${ino}`).join();
  } catch {
    return undefined;
  }
}

/** @param {string} path below the folder */
export const isCode = (path) =>
  CODE.test(path) && !path.split(sep).some((part) => part === "node_modules" || part.startsWith("."));
