import { join } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { PlainError } from "../progress.mjs";
import { runTool } from "../setup/run-tool.mjs";
import { readJson } from "./manifest.mjs";
import { contentFlaws } from "./packages.mjs";

/**
 * Throws at what a user of it would trip over: files that are missing or not meant to be there, entries that lead nowhere,
 * types that are not found.
 *
 * @param {string} root
 * @param {import("./packages.mjs").PublishedPackage} published
 * @param {{ folder: string, tarball: string, files: string[] }} made
 */
export async function checkTarball(root, published, { folder, tarball, files }) {
  const flaws = contentFlaws(files, published);
  // A template's TypeScript and tests are its user's.
  if (published.kind !== "template") flaws.push(...(await entryFlaws(folder)));
  if (flaws.length > 0) throw new PlainError(`${published.name} is not as it should be:\n  ${flaws.join("\n  ")}`);
  if (published.kind !== "library") return; // a program has no types
  await runTool(join(root, "node_modules/.bin/attw"), [tarball, "--profile", "esm-only", "--no-color"], { cwd: folder });
}

/** @param {string} folder */
async function entryFlaws(folder) {
  const { messages } = await publint({ pkgDir: folder, strict: true, pack: false });
  const manifest = readJson(join(folder, "package.json"));
  return messages.map((message) => `publint: ${formatMessage(message, manifest, { color: false }) ?? message.code}`);
}
