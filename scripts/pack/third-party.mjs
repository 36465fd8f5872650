import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isOurs, readJson } from "./manifest.mjs";

/** The folder of the foreign package that a file belongs to; undefined of our own. @param {string} file */
export function packageFolderOf(file) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
}

/**
 * The folders of all packages that a workspace needs to be built, with what these need: more than can be in what is made of
 * it, and never less. Those that only build (the compiler, the bundler) are left out with what only they need.
 *
 * @param {string} root
 * @param {string} workspace
 */
export function packagesNeededBy(root, workspace) {
  const { dependencies = {}, devDependencies = {} } = readJson(join(root, workspace, "package.json"));
  const found = new Set();
  const visit = (/** @type {string} */ name, /** @type {string} */ from) => {
    const folder = findPackage(name, from);
    if (folder === undefined || found.has(folder)) return; // optional, and not installed
    found.add(folder);
    for (const each of Object.keys(readJson(join(folder, "package.json")).dependencies ?? {})) visit(each, folder);
  };
  for (const name of Object.keys({ ...dependencies, ...devDependencies }))
    if (!isOurs(name) && !/^vite$|^@types\//.test(name)) visit(name, join(root, workspace));
  return [...found];
}

/** @param {string} name @param {string} from @returns {string | undefined} */
function findPackage(name, from) {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return folder;
  return dirname(from) === from ? undefined : findPackage(name, dirname(from));
}

/**
 * The text of THIRD_PARTY_LICENSES: each package with its version, its licence's name and its licence's text.
 *
 * @param {string[]} folders
 */
export function thirdPartyText(folders) {
  const entries = folders.map((folder) => {
    const { name, version, license, licenses, author } = readJson(join(folder, "package.json"));
    const kind = license?.type ?? license ?? licenses?.map((/** @type {{ type: string }} */ each) => each.type).join(" OR ");
    const papers = readdirSync(folder)
      .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
      .sort();
    const texts = papers.map((file) => readFileSync(join(folder, file), "utf8").trim());
    const by = typeof author === "string" ? author : (author?.name ?? "its authors");
    return {
      name,
      title: `${name} ${version} (${kind ?? "see its text"})`,
      text: texts.join("\n\n") || `It has no file of its licence. By ${by}.`,
    };
  });
  const unlike = [...new Map(entries.map((entry) => [entry.title, entry])).values()];
  unlike.sort((a, b) => a.title.localeCompare(b.title, "en"));
  if (unlike.length === 0) return "Nothing of others is in this package.\n";
  const head = `This package has code of ${unlike.length} others in it:\n\n${unlike.map(({ title }) => `- ${title}`).join("\n")}\n`;
  const line = "-".repeat(80);
  return `${head}${unlike.map(({ title, text }) => `\n${line}\n${title}\n${line}\n\n${text}\n`).join("")}`;
}
