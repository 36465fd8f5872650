import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/** Within a bundle: what is being made, beside what is in use. */
export const BEING_MADE = ".next";

/**
 * Puts what was made in `.next` in the place of what a bundle is so far. Each file by a rename, and what others load first, so that
 * whoever starts the program meanwhile has the old one or the new one, whole. Cut short it leaves a program that starts: what is
 * left over goes with the next build.
 *
 * @param {string} bundle its folder
 */
export function putInPlace(bundle) {
  const made = filesBelow(join(bundle, BEING_MADE));
  for (const file of [...made.filter(isChunk), ...made.filter((each) => !isChunk(each))]) {
    mkdirSync(dirname(join(bundle, file)), { recursive: true });
    renameSync(join(bundle, BEING_MADE, file), join(bundle, file));
  }
  rmSync(join(bundle, BEING_MADE), { recursive: true, force: true });
  for (const file of filesBelow(bundle)) if (!made.includes(file)) rmSync(join(bundle, file), { force: true });
}

/** @param {string} file named by what is in it: no other content ever has its name */
const isChunk = (file) => file.startsWith(`chunks${sep}`);

/** @param {string} folder */
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
