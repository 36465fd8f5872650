#!/usr/bin/env node
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * `npm create unacked FOLDER`: copies the template into a folder that is new or empty, and names the project after it. Nothing
 * is installed and nothing is asked: what is wrong is said, with exit code 2.
 */

const USAGE = `Usage: npm create unacked FOLDER

Makes a TypeScript project for Unacked in FOLDER: one observer, one task, one schedule, tests, a Dockerfile,
docker-compose.yml and manifests for Kubernetes. The folder must be new or empty.
`;
const TEMPLATE = fileURLToPath(new URL("../template/", import.meta.url));
/** npm leaves files of these names out of packages, or takes them for its own. */
const DOTTED = ["gitignore", "dockerignore"];
/** What npm takes for a name, and Kubernetes for a label. */
const NAME = /^[a-z]([a-z0-9-]{0,48}[a-z0-9])?$/;
/** Stands in the template wherever the project's name has to be. */
const NAME_IN_TEMPLATE = "my-feeds";

class WrongUse extends Error {}

/** @param {string[]} words */
function main(words) {
  if (words.includes("--help") || words.includes("-h")) return USAGE;
  const option = words.find((word) => word.startsWith("-"));
  if (option !== undefined) throw new WrongUse(`There is no option ${option}.\n\n${USAGE}`);
  const [folder, ...others] = words;
  if (folder === undefined) throw new WrongUse(`Which folder?\n\n${USAGE}`);
  if (others.length > 0) throw new WrongUse(`One folder, please: ${folder}, and not ${others.join(" ")} too.\n\n${USAGE}`);
  const target = resolve(folder);
  const name = basename(target);
  if (!NAME.test(name))
    throw new WrongUse(`"${name}" cannot be a project's name: at most 50 of a–z, 0–9 and -, with a letter first.`);
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new WrongUse(`${target} has files in it already. Choose a folder that is new or empty.`);
  copyTemplate(target, name);
  return greeting(name, relative(process.cwd(), target) || ".");
}

/** @param {string} target @param {string} name */
function copyTemplate(target, name) {
  cpSync(TEMPLATE, target, { recursive: true, filter: (file) => basename(file) !== "node_modules" });
  for (const each of DOTTED) renameSync(join(target, each), join(target, `.${each}`));
  for (const file of readdirSync(target, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    const text = readFileSync(path, "utf8");
    if (text.includes(NAME_IN_TEMPLATE)) writeFileSync(path, text.replaceAll(NAME_IN_TEMPLATE, name));
  }
}

/** @param {string} name @param {string} folder */
function greeting(name, folder) {
  return `${name} is made. What comes next:

  cd ${folder}
  npm install
  npm test        # its observer and its task, without a broker
  npm run dev     # the whole of Unacked on this machine, with your observers

Its README.md has the rest.
`;
}

try {
  process.stdout.write(main(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error instanceof WrongUse ? error.message : `It could not be made: ${String(error)}`}\n`);
  process.exitCode = 2;
}
