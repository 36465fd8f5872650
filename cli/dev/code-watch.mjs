import { readdirSync } from "node:fs";
import { join, sep } from "node:path";
import { codeFolders } from "../../services/observer-service/src/slot/code-print.ts";
import { isCode, watchedFolder, watchFolder } from "./folder-watch.mjs";

/**
 * Calls `onSaved` once code has changed in the folder of the observers, or beside it, where that is imported by relative path (as far as this is
 * written out). What is imported is looked up again at each save. A folder that was watched once stays so: it may be away for a moment.
 *
 * @param {string} observersDir
 * @param {() => void} onSaved
 * @param {(why: string) => void} onTrouble
 * @returns {() => void} ends it
 */
export function watchCode(observersDir, onSaved, onTrouble) {
  const whole = watchedFolder(observersDir);
  /** @type {Map<string, () => void>} */
  const watched = new Map([[whole, watchFolder(whole, saved, onTrouble, { inner: observersDir })]]);
  watchBeside();

  function saved() {
    watchBeside();
    onSaved();
  }

  function watchBeside() {
    for (const dir of foldersBeside()) {
      try {
        // Folders below it are not watched: it may be the project's own folder, with all its packages.
        watched.set(dir, watchFolder(dir, saved, onTrouble, { isWhole: false }));
      } catch (error) {
        // The folder does not exist (any more). It is looked for again at the next save.
        const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
        if (code !== "ENOENT" && code !== "ENOTDIR") onTrouble(message);
      }
    }
  }

  function foldersBeside() {
    const dirs = filesOf(observersDir).flatMap((file) => [...codeFolders(file)]);
    const isBeside = (/** @type {string} */ dir) =>
      !watched.has(dir) && !`${dir}${sep}`.startsWith(`${whole}${sep}`) && !dir.split(sep).includes("node_modules");
    return new Set(dirs.filter(isBeside));
  }

  return () => {
    for (const unwatch of watched.values()) unwatch();
  };
}

/** @param {string} dir */
function filesOf(dir) {
  try {
    return readdirSync(dir)
      .filter(isCode)
      .map((name) => join(dir, name));
  } catch {
    return []; // the folder is gone
  }
}
