import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandLine } from "../processes/identity.mjs";
import { readPidFile } from "../processes/pid-file.mjs";
import { freePort } from "./free-port.mjs";
import { commandOf, DATABASE, environment, initialise, outsideOf, placeOf, ROLE } from "./postgres-data.mjs";
import { endServerProcess, startServerProcess, waitUntilReady } from "./server-process.mjs";

/** @typedef {import("./postgres-data.mjs").Place} Place */

/**
 * A private PostgreSQL: the one from npm, own folder and port, on loopback alone, with a random password.
 *
 * @typedef {object} Postgres
 * @property {string} databaseUrl of a database named unacked
 * @property {number} port
 * @property {number} pid of the postmaster, in its present life
 * @property {string} dataDir
 * @property {string} passwordFile
 * @property {Promise<string>} exited of the present life: resolves when it ended, by itself or not
 * @property {() => Promise<void>} start again, on the same port and data
 * @property {() => Promise<void>} stop in order; does not wait for clients
 * @property {() => Promise<void>} kill with SIGKILL; resolves when the postmaster is gone
 */

/**
 * @typedef {object} PostgresOptions
 * @property {string} dir everything it writes is in there; data of an earlier start is taken up again
 * @property {number} [port] otherwise that of the earlier start if it is free, else any free one
 * @property {Record<string, string | number>} [config] settings of the server, over the defaults below
 * @property {import("./postgres-program.mjs").PostgresProgram["kind"]} [runAs] otherwise what this machine allows
 * @property {string} [programs] the folder above bin/ of another PostgreSQL than that from npm
 * @property {Pick<Postgres, "dataDir" | "passwordFile">} [copyOf] begins with a copy of these files, of a server that is down
 * @property {Record<string, string>} [files] further ones that such a copy needs: what they bear, by name
 */

const START_TIMEOUT_MS = 180_000; // after a crash it replays its log first
const STOP_GRACE_MS = 20_000;
const MAX_ATTEMPTS = 40;
const ATTEMPT_PAUSE_MS = 250;

/**
 * @param {PostgresOptions} options
 * @returns {Promise<Postgres>}
 */
export async function startPostgres(options) {
  const place = placeOf(resolve(options.dir), options.runAs, options.programs);
  const password = initialise(place, options);
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(place, options.port);
    const life = lifeOf(place, port, password, options.config ?? {});
    try {
      await life.start();
      return life;
    } catch (error) {
      await life.stop();
      // Somebody took the port between our look and the server's start.
      if (attempt < 3 && options.port === undefined && /could not create any TCP\/IP sockets/.test(String(error))) continue;
      throw error;
    }
  }
}

/**
 * Removes the data for good, also what had to lie outside the folder.
 *
 * @param {string} dir
 */
export function removePostgresData(dir) {
  for (const path of [resolve(dir), outsideOf(resolve(dir))]) rmSync(path, { recursive: true, force: true });
}

/**
 * @param {Place} place
 * @param {number} port
 * @param {string} password
 * @param {Record<string, string | number>} config
 * @returns {Postgres}
 */
function lifeOf(place, port, password, config) {
  const logFile = join(place.logDir, "postgres.log");
  const pidFile = join(place.logDir, "postgres.pid.json");
  /** @type {import("./server-process.mjs").ServerProcess | undefined} */
  let server;

  /** After kill -9 its children are there for a moment longer, and hold the shared memory that a new one asks for. */
  async function start() {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await startOnce();
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !/shared memory block/.test(String(error))) throw error;
        await sleep(ATTEMPT_PAUSE_MS);
      }
    }
  }

  async function startOnce() {
    if (server !== undefined && server.outcome() === null) throw new Error("This PostgreSQL runs already.");
    const settings = { listen_addresses: "127.0.0.1", port, unix_socket_directories: "", ...config };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const { program, prefix, uid, gid } = commandOf(place, "postgres");
    rmSync(logFile, { force: true }); // an error shows this start's lines alone
    if (readPidFile(pidFile) === null) removeStaleLock(place.dataDir);
    server = await startServerProcess({
      program,
      args: [...prefix, "-D", place.dataDir, ...args],
      env: environment(),
      cwd: place.dir,
      logFile,
      pidFile,
      uid,
      gid,
      leftoverSignal: "SIGINT",
    });
    const { pid } = server;
    await waitUntilReady(server, {
      name: "PostgreSQL",
      logFiles: [logFile],
      timeoutMs: START_TIMEOUT_MS,
      isReady: () => saysReady(place.dataDir, pid),
    });
  }

  return {
    databaseUrl: `postgres://${ROLE}:${password}@127.0.0.1:${port}/${DATABASE}`,
    port,
    dataDir: place.dataDir,
    passwordFile: join(place.dir, "password"),
    get pid() {
      return server?.pid ?? -1;
    },
    get exited() {
      return server?.exited ?? Promise.resolve("never started");
    },
    start,
    async stop() {
      // SIGINT is its "fast" shutdown: SIGTERM would wait for every client to leave.
      if (server !== undefined) await endServerProcess(server, "SIGINT", STOP_GRACE_MS);
    },
    async kill() {
      if (server !== undefined) await endServerProcess(server, "SIGKILL", 1_000);
    },
  };
}

/**
 * After kill -9 the server's own lock file stays. It asks whether the pid in it is alive, and in a fresh boot or container
 * some other program may well have that pid: it would then never start again.
 *
 * @param {string} dataDir
 */
function removeStaleLock(dataDir) {
  const file = join(dataDir, "postmaster.pid");
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  if (!commandLine(pid).includes(dataDir)) rmSync(file, { force: true });
}

/**
 * The lock file's last line tells the state; asking over the network would need a client. Its first says whose it is: that of
 * a server that was killed says for a moment longer that it is ready.
 *
 * @param {string} dataDir
 * @param {number} pid
 */
function saysReady(dataDir, pid) {
  try {
    const lines = readFileSync(join(dataDir, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
  } catch {
    return false; // not written yet
  }
}

/**
 * @param {Place} place
 * @param {number | undefined} wanted
 */
async function choosePort(place, wanted) {
  const file = join(place.logDir, "port");
  const earlier = existsSync(file) ? Number(readFileSync(file, "utf8")) : undefined;
  const port = wanted ?? (await freePort(earlier));
  writeFileSync(file, `${port}\n`);
  return port;
}
