import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkTarball } from "./pack/check-tarball.mjs";
import { makePackage } from "./pack/make-package.mjs";
import { PACKAGES } from "./pack/packages.mjs";
import { complain, PlainError, say, step } from "./progress.mjs";
import { buildIfStale } from "./setup/build.mjs";
import { runTool } from "./setup/run-tool.mjs";

/**
 * `npm run pack`: makes the tarballs that a registry gets, in `packages/`, and a folder of the same content beside each. Every
 * one is checked: its list of files, its entries (publint), its types (attw).
 */

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const out = join(root, "packages");
const folderOf = (/** @type {{ name: string }} */ { name }) => join(out, name);

/** @returns {Promise<{ name: string, filename: string, size: number, unpackedSize: number, files: { path: string }[] }[]>} */
async function pack() {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", out, ...PACKAGES.map(folderOf)];
  return Object.values(JSON.parse(await runTool("npm", args, { cwd: out }))); // a list, and of npm 12 an object
}

/** @param {Awaited<ReturnType<typeof pack>>} tarballs */
async function check(tarballs) {
  for (const published of PACKAGES) {
    const made = tarballs.find(({ name }) => name === published.name);
    if (made === undefined) throw new PlainError(`npm made no tarball of ${published.name}.`);
    const files = made.files.map(({ path }) => path);
    await checkTarball(root, published, { folder: folderOf(published), tarball: join(out, made.filename), files });
    const kB = (/** @type {number} */ bytes) => `${(bytes / 1000).toFixed(0)} kB`;
    const needs = published.dependencies.length + Object.keys(published.peerDependencies ?? {}).length;
    say(
      `  ${made.filename}: ${kB(made.size)}, unpacked ${kB(made.unpackedSize)}, ${files.length} files, ${needs} direct dependencies`,
    );
  }
}

try {
  await buildIfStale(root);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  await step("Laying out the packages", async () => {
    for (const published of PACKAGES) await makePackage(root, published, folderOf(published));
  });
  const tarballs = await step("Packing them", pack);
  await step("Checking the tarballs", () => check(tarballs));
} catch (error) {
  complain(error instanceof PlainError ? error.message : String(/** @type {Error} */ (error).stack));
  process.exitCode = 1;
}
