import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The package.json of what is published: of its workspace it takes only what a library exports, and the versions of what it needs.
 *
 * @param {string} root
 * @param {import("./packages.mjs").PublishedPackage} published
 */
export function manifestOf(root, published) {
  const { version, license, engines } = readJson(join(root, "package.json"));
  const dependencies = Object.fromEntries(published.dependencies.map((name) => [name, versionOf(root, published, name)]));
  return {
    name: published.name,
    version,
    description: published.description,
    keywords: published.keywords,
    license,
    type: "module",
    engines,
    ...(published.kind === "library"
      ? {
          sideEffects: false,
          exports: {
            ...readJson(join(root, published.of, "package.json")).exports,
            "./package.json": "./package.json",
          },
        }
      : { exports: { "./package.json": "./package.json" } }),
    ...(published.bin && { bin: published.bin }),
    ...(published.dependencies.length > 0 && { dependencies }),
    ...(published.peerDependencies && { peerDependencies: published.peerDependencies }),
    publishConfig: { access: "public", provenance: true },
  };
}

/**
 * Exact: what was tested together is installed together.
 *
 * @param {string} root
 * @param {import("./packages.mjs").PublishedPackage} published
 * @param {string} name
 */
function versionOf(root, { of, copied = {} }, name) {
  if (isOurs(name)) return readJson(join(root, "package.json")).version;
  const folders = [of, ...Object.values(copied), "."];
  for (const folder of folders) {
    const { dependencies = {}, devDependencies = {} } = readJson(join(root, folder, "package.json"));
    const version = dependencies[name] ?? devDependencies[name];
    if (version !== undefined) return version;
  }
  throw new Error(`No package.json of ${folders.join(", ")} names a version of ${name}.`);
}

/** @param {string} name of a package */
export const isOurs = (name) => name === "unacked" || name.startsWith("@unacked/");

/** @param {string} file */
export const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
