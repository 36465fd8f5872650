import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PlainError } from "../../scripts/progress.mjs";

/**
 * Where the programs of manager and service are: in the clone that this command line belongs to, or in the packages
 * `@unacked/manager` and `@unacked/service`, of the author's project first, then beside this command line.
 *
 * @param {string} projectDir
 * @returns {{ manager: string, service: string }} files for Node
 * @throws {PlainError} what is to be done where one is missing
 */
export function findPrograms(projectDir) {
  const own = ownPackage();
  if (own.name === "@unacked/cli") return ofClone(dirname(own.folder));
  const places = [join(projectDir, "package.json"), join(own.folder, "package.json")];
  const find = (/** @type {string} */ name) => {
    for (const place of places) {
      try {
        return join(dirname(createRequire(place).resolve(`${name}/package.json`)), "bundle", "main.js");
      } catch {
        // not found from there
      }
    }
    throw new PlainError(`There is no package ${name} here. Install it: npm install --save-dev ${name}`);
  };
  return { manager: find("@unacked/manager"), service: find("@unacked/service") };
}

/** @param {string} root */
function ofClone(root) {
  const of = (/** @type {string} */ name) => {
    const file = join(root, "services", name, "bundle", "main.js");
    if (!existsSync(file)) throw new PlainError(`${name} is not built. In ${root}: npm install && npm run build`);
    return file;
  };
  return { manager: of("observer-manager"), service: of("observer-service") };
}

/** The package that this code is in, bundled or not. */
function ownPackage() {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { name, folder };
}
