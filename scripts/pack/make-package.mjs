import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyModules } from "./copied-modules.mjs";
import { manifestOf } from "./manifest.mjs";
import { makeProgram } from "./program-files.mjs";
import { copyTemplate } from "./template.mjs";
import { packagesNeededBy, thirdPartyText } from "./third-party.mjs";

/**
 * Lays out what is published in a folder of its own, of built sources.
 *
 * @param {string} root
 * @param {import("./packages.mjs").PublishedPackage} published
 * @param {string} target emptied before
 */
export async function makePackage(root, published, target) {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const manifest = manifestOf(root, published);
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
  cpSync(join(root, published.of, "README.md"), join(target, "README.md"));
  const foreign = await fill(root, published, target);
  foreign.push(...(published.bundledByHand ?? []).flatMap((workspace) => packagesNeededBy(root, workspace)));
  writeFileSync(join(target, "THIRD_PARTY_LICENSES"), thirdPartyText(foreign));
}

/**
 * @param {string} root
 * @param {import("./packages.mjs").PublishedPackage} published
 * @param {string} target
 * @returns {Promise<string[]>} the folders of the foreign packages that are in it
 */
async function fill(root, published, target) {
  const { kind } = published;
  switch (kind) {
    case "library":
      copyModules(root, published, target);
      return [];
    case "program":
      return makeProgram(root, published, target);
    case "template":
      copyTemplate(root, published, target);
      return [];
    default:
      throw new Error(`There is no kind ${/** @type {never} */ (kind)} of package.`);
  }
}
