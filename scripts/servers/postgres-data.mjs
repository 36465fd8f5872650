import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findPostgres, handOver } from "./postgres-program.mjs";

/** @typedef {import("./postgres.mjs").PostgresOptions} PostgresOptions */

/**
 * Where a private PostgreSQL has its files, and what runs it.
 *
 * @typedef {object} Place
 * @property {string} logDir
 * @property {string} dir where the password lies; another one than `logDir` where it runs as another user
 * @property {string} dataDir
 * @property {import("./postgres-program.mjs").PostgresProgram} program
 */

export const ROLE = "unacked";
export const DATABASE = "unacked";

/**
 * @param {string} dir
 * @param {PostgresOptions["runAs"]} runAs
 * @param {PostgresOptions["programs"]} programs
 * @returns {Place}
 */
export function placeOf(dir, runAs, programs) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const program = findPostgres(outsideOf(dir), runAs, programs);
  if (program.kind !== "other-user") return { logDir: dir, dir, dataDir: join(dir, "data"), program };
  const outside = join(outsideOf(dir), "database");
  mkdirSync(outside, { recursive: true, mode: 0o700 });
  handOver(outside, program);
  return { logDir: dir, dir: outside, dataDir: join(outside, "data"), program };
}

/**
 * The folder for data and programs that another user must reach, one for each `dir`.
 *
 * @param {string} dir
 */
export function outsideOf(dir) {
  return join("/var/tmp", `unacked-postgres-${createHash("sha256").update(dir).digest("hex").slice(0, 12)}`);
}

/**
 * Makes the data folder unless an earlier start did. It is made under another name and renamed when complete, so that
 * a start that was killed half-way does not leave half a database behind.
 *
 * @param {Place} place
 * @param {PostgresOptions} options
 * @returns {string} the password
 */
export function initialise(place, { copyOf, files = {} }) {
  const passwordFile = join(place.dir, "password");
  if (existsSync(place.dataDir)) return readFileSync(passwordFile, "utf8").trim();

  const unfinished = `${place.dataDir}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  if (copyOf === undefined) makeData(place, unfinished, passwordFile);
  else copyData(copyOf, files, { place, unfinished, passwordFile });
  renameSync(unfinished, place.dataDir);
  return readFileSync(passwordFile, "utf8").trim();
}

/**
 * @param {NonNullable<PostgresOptions["copyOf"]>} copyOf
 * @param {Record<string, string>} files
 * @param {{ place: Place, unfinished: string, passwordFile: string }} to
 */
function copyData(copyOf, files, { place, unfinished, passwordFile }) {
  // With who owns them.
  execFileSync("cp", ["-a", copyOf.dataDir, unfinished]);
  execFileSync("cp", ["-a", copyOf.passwordFile, passwordFile]);
  for (const [name, content] of Object.entries(files)) {
    appendFileSync(join(unfinished, name), content, { mode: 0o600 });
    handOver(join(unfinished, name), place.program);
  }
}

/**
 * @param {Place} place
 * @param {string} unfinished
 * @param {string} passwordFile
 */
function makeData(place, unfinished, passwordFile) {
  const password = randomBytes(18).toString("base64url");
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  handOver(passwordFile, place.program);
  run(place, "initdb", [
    "-D",
    unfinished,
    "--username",
    ROLE,
    "--pwfile",
    passwordFile,
    "--auth",
    "scram-sha-256",
    "--encoding",
    "UTF8",
    "--no-locale",
  ]);
  // The package has no client program; the server itself can run a statement before it serves anybody.
  run(place, "postgres", ["--single", "-D", unfinished, "postgres"], `CREATE DATABASE ${DATABASE};\n`);
}

/**
 * @param {Place} place
 * @param {"initdb" | "postgres"} name
 * @param {string[]} args
 * @param {string} [input]
 */
function run(place, name, args, input) {
  const { program, prefix, uid, gid } = commandOf(place, name);
  try {
    execFileSync(program, [...prefix, ...args], {
      cwd: place.dir,
      env: environment(),
      uid,
      gid,
      input,
      stdio: ["pipe", "pipe", "pipe"],
    });
  } catch (error) {
    const said = String(/** @type {{ stderr?: Buffer }} */ (error).stderr ?? "").trim();
    throw new Error(`PostgreSQL's ${name} failed. ${said || String(error)}`, { cause: error });
  }
}

/**
 * @param {Place} place
 * @param {"initdb" | "postgres"} name
 */
export function commandOf({ program: { folder, prefix, uid, gid } }, name) {
  const [program, ...rest] = [...prefix, join(folder, "bin", name)];
  return { program: /** @type {string} */ (program), prefix: rest, uid, gid };
}

/** The settings for another database that the shell may carry must not reach this one. */
export function environment() {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("PG"))), LC_ALL: "C" };
}
