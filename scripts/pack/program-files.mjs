import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundleProgram, PROGRAMS } from "../bundles/program-bundles.mjs";
import { packageFolderOf } from "./third-party.mjs";

/** PostgreSQL's own client library, which pg asks for and does without. */
const NOT_THERE = ["pg-native"];

/**
 * A program is published as one bundle, with all that it needs: what is installed is what was tested.
 *
 * @param {string} root
 * @param {import("./packages.mjs").PublishedPackage} published
 * @param {string} target the package's folder
 * @returns {Promise<string[]>} the folders of the foreign packages that are in the bundle
 */
export async function makeProgram(root, { of, bin = {}, bundledByHand = [] }, target) {
  const bundled = new Set();
  for (const program of PROGRAMS.filter((each) => each.of === of)) {
    const { metafile } = await bundleProgram(root, program, { outdir: join(target, "bundle"), external: NOT_THERE });
    for (const { inputs } of Object.values(metafile?.outputs ?? {}))
      for (const input of Object.keys(inputs)) bundled.add(packageFolderOf(join(root, input)));
  }
  if (bundledByHand.includes("services/status-page"))
    cpSync(join(root, "services/status-page/dist"), join(target, "page"), { recursive: true });
  mkdirSync(join(target, "bin"), { recursive: true });
  for (const file of Object.values(bin)) {
    writeFileSync(join(target, "bin", basename(file)), '#!/usr/bin/env node\nimport "../bundle/main.js";\n');
    chmodSync(join(target, file), 0o755);
  }
  return [...bundled].filter((folder) => folder !== undefined);
}
