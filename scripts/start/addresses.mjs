import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * The addresses of the servers that this start has started, with their passwords, for programs of the same user: `node --env-file=FILE`, or
 * `set -a; . FILE`. Nobody else may read it.
 *
 * @param {string} file
 * @param {Record<string, string>} addresses by the name of the variable that a program reads
 */
export function writeAddresses(file, addresses) {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  rmSync(file, { force: true }); // a file that is there keeps its mode
  const lines = Object.entries(addresses).map(([name, url]) => `${name}='${url}'\n`);
  writeFileSync(file, lines.join(""), { mode: 0o600 });
}

/** They are nobody's any more. @param {string} file */
export function removeAddresses(file) {
  rmSync(file, { force: true });
}
