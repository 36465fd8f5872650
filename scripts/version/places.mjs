import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Where the version stands. Each pattern finds the version alone, each time that the file states it; what tells of the past
 * (docs/upgrade.md) or is an example does not belong here. The template of create-unacked gets it when it is packed.
 */
const IN_MANIFEST = /(?<=^ {2}"version": "|^ {4}"(?:unacked|@unacked\/[\w-]+)": ")\d[^"]*/gm;
const IN_IMAGE_NAME = /(?<=\bunacked\/observer-(?:manager|service):)[^\s"]+/g;
const IN_TAG = /(?<=^ {4}newTag: ")[^"]+/gm;
const IN_FILES = {
  Dockerfile: /(?<=\borg\.opencontainers\.image\.version=")[^"]+/g,
  "docker-compose.yml": IN_IMAGE_NAME,
  "k8s/base/observer-manager.yaml": IN_IMAGE_NAME,
  "k8s/base/observer-service.yaml": IN_IMAGE_NAME,
  "k8s/overlays/production/kustomization.yaml": IN_TAG,
  "docs/deploy.md": IN_IMAGE_NAME,
};
const LOCK = "package-lock.json";

/** The version that all others have to be. @param {string} root @returns {string} */
export const versionOf = (root) => JSON.parse(textOf(root, "package.json")).version;

/**
 * Every place that does not state the version, in words.
 *
 * @param {string} root
 * @param {string} version
 */
export function disagreements(root, version) {
  const told = Object.entries(patternsOf(root)).flatMap(([file, pattern]) => {
    const stated = textOf(root, file).match(pattern);
    if (stated === null) return [`${file} states no version any more`];
    return stated.filter((each) => each !== version).map((each) => `${file} says ${each}`);
  });
  return textOf(root, LOCK) === lockWith(root, version) ? told : [...told, `${LOCK} has another version of ours`];
}

/**
 * What every file has to be, for a version: nothing is written.
 *
 * @param {string} root
 * @param {string} version
 * @returns {[file: string, text: string][]}
 */
export function filesWith(root, version) {
  const files = Object.entries(patternsOf(root)).map(
    ([file, pattern]) => /** @type {[string, string]} */ ([file, textOf(root, file).replace(pattern, version)]),
  );
  return [...files, [LOCK, lockWith(root, version)]];
}

/** @param {string} root @returns {Record<string, RegExp>} */
function patternsOf(root) {
  const manifests = ownFolders(lockOf(root)).map((folder) => join(folder, "package.json"));
  return { ...Object.fromEntries(manifests.map((file) => [file, IN_MANIFEST])), ...IN_FILES };
}

/** @param {string} root @param {string} version */
function lockWith(root, version) {
  const lock = lockOf(root);
  lock.version = version;
  for (const folder of ownFolders(lock)) {
    const entry = lock.packages[folder] ?? {};
    entry.version = version;
    for (const kind of ["dependencies", "devDependencies"])
      for (const name of Object.keys(entry[kind] ?? {}).filter(isOurs)) entry[kind][name] = version;
  }
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/** The root's, "", and those of all workspaces. @param {{ packages: Record<string, unknown> }} lock */
const ownFolders = ({ packages }) => Object.keys(packages).filter((path) => !path.split("/").includes("node_modules"));
/** @param {string} name */
const isOurs = (name) => name === "unacked" || name.startsWith("@unacked/");
/** @param {string} root @returns {{ version: string, packages: Record<string, any> }} */
const lockOf = (root) => JSON.parse(textOf(root, LOCK));
/** @param {string} root @param {string} file */
const textOf = (root, file) => readFileSync(join(root, file), "utf8");
