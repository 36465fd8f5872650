import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);

/**
 * A package of a peer. By a name that is not in an import: the types are checked also where they are not installed.
 *
 * @param {string} name
 * @returns {Promise<any>}
 */
export const peerPackage = async (name) => await import(pathToFileURL(require.resolve(name)).href);

/** @param {string} name */
export const versionOf = (name) => require(`./package.json`).dependencies[name];
