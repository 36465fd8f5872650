import { cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The messages of a version are kept in a folder of its name. The next version begins with those of the one before: a copy,
 * or, where that was never released, the same folder under the new name.
 *
 * @param {string} root
 * @param {string} before
 * @param {string} version
 */
export function carryMessages(root, before, version) {
  const fixtures = join(root, "test/fixtures");
  const folderOf = (/** @type {string} */ of) => join(fixtures, "messages", `v${of}`);
  const [from, to] = [folderOf(before), folderOf(version)];
  const isReleased = before in JSON.parse(readFileSync(join(fixtures, "releases.json"), "utf8"));
  if (isReleased) cpSync(from, to, { recursive: true });
  else renameSync(from, to);
  for (const file of readdirSync(to)) {
    const text = readFileSync(join(to, file), "utf8");
    writeFileSync(join(to, file), text.replaceAll(`"version": "${before}"`, `"version": "${version}"`));
  }
}
