import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../pack/manifest.mjs";
import { contentFlaws, PACKAGES } from "../pack/packages.mjs";
import { PlainError, say } from "../progress.mjs";

/**
 * What was installed: each of ours has the files that it is meant to have, nothing private of ours came along, and what a
 * user gets with each is told.
 *
 * @param {string} project
 */
export function tryInstalled(project) {
  const { packages } = readJson(join(project, "package-lock.json"));
  const published = new Set(PACKAGES.map(({ name }) => name));
  const names = Object.keys(packages).map((path) => path.split("node_modules/").at(-1) ?? "");
  const strange = names.filter((name) => name.startsWith("@unacked/") && !published.has(name));
  if (strange.length > 0) throw new PlainError(`A private package is asked of the registry: ${strange.join(", ")}`);
  for (const each of PACKAGES) {
    const folder = join(project, "node_modules", each.name);
    if (!existsSync(folder)) continue; // create-unacked is run, and not installed
    const flaws = contentFlaws(filesIn(folder), each);
    if (flaws.length > 0) throw new PlainError(`${each.name}, as it was installed:\n  ${flaws.join("\n  ")}`);
    const needed = neededBy(each.name, packages, project);
    const bytes = needed.reduce((sum, path) => sum + sizeOf(join(project, path)), sizeOf(folder));
    say(`  ${each.name}: with ${needed.length} other packages ${(bytes / 1e6).toFixed(1)} MB`);
  }
}

/** @param {string} folder */
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes(join(folder, "node_modules")))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/** @param {string} folder */
const sizeOf = (folder) => filesIn(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

/**
 * The places of all packages that come with one, as npm put them.
 *
 * @param {string} name
 * @param {Record<string, Record<string, Record<string, string>>>} lock
 * @param {string} project
 */
function neededBy(name, lock, project) {
  const found = new Set();
  const visit = (/** @type {string} */ from) => {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = lock[from] ?? {};
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const place = placeOf(each, from);
      if (place === undefined || found.has(place) || !existsSync(join(project, place))) continue; // of another platform
      found.add(place);
      visit(place);
    }
  };
  const placeOf = (/** @type {string} */ each, /** @type {string} */ from) => {
    for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf("/node_modules/")))) {
      const place = `${base === "" ? "" : `${base}/`}node_modules/${each}`;
      if (lock[place] !== undefined) return place;
      if (base === "") return undefined;
    }
  };
  visit(`node_modules/${name}`);
  return [...found];
}
