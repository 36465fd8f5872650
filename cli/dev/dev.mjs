import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { takeLock } from "../../scripts/processes/lock.mjs";
import { stopOnSignals } from "../../scripts/processes/stop-signals.mjs";
import { PlainError } from "../../scripts/progress.mjs";
import { freePort, whyPortIsTaken } from "../../scripts/servers/free-port.mjs";
import { givenServer } from "../../scripts/servers/given-server.mjs";
import { removePostgresData, startPostgres } from "../../scripts/servers/postgres.mjs";
import { startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { endLeftovers } from "../../scripts/start/leftovers.mjs";
import { programOf } from "../../scripts/start/program.mjs";
import { withoutManagersSecrets } from "../../scripts/start/service-env.mjs";
import { watchCode } from "./code-watch.mjs";
import { openPage, readKeys } from "./keys.mjs";
import { logStream } from "./log-stream.mjs";
import { findPrograms } from "./programs.mjs";
import { whatIsMissing } from "./servers-missing.mjs";
import { serviceLife } from "./service-life.mjs";

export { PlainError as DevError };

const FOLDERS = ["observers", "src/observers"];

/**
 * `unacked dev`: everything on one folder of observers. Whatever happens, nothing that it started stays behind: in order at `q`, at a
 * signal and when the start fails, by the watchdog (scripts/processes/leash.mjs) when it is killed itself.
 *
 * @param {import("./dev.d.mts").DevOptions} options
 */
export async function dev({ dir, port, fresh, only }) {
  const projectDir = process.cwd();
  const dataDir = join(projectDir, ".unacked", "dev");
  const observersDir = folderOf(projectDir, dir);
  const programs = findPrograms(projectDir);
  const missing = await whatIsMissing(process.env);
  if (missing !== null) throw new PlainError(missing);
  // The lock comes before the port check: another `unacked dev` in this folder has taken the port itself.
  const lock = takeLock(join(dataDir, "run", "dev.lock"));
  if ("ownerPid" in lock)
    throw new PlainError(
      `unacked dev runs in this folder already (process ${lock.ownerPid}). Stop it with: kill ${lock.ownerPid}`,
    );

  const log = logStream({ only, write: (text) => void process.stdout.write(text) });
  const stopping = new AbortController();
  const { stop, unlisten } = stopOnSignals(stopping, {
    onFirst: () => log.say("Stopping everything; once more to hurry."),
  });
  /** What has ended by itself: nothing goes on without it. @type {string[]} */
  const died = [];
  /** In the order in which they were started. @type {{ name: string, stop: () => Promise<void> }[][]} */
  const ranks = [];
  try {
    await checkPort(port);
    await endLeftovers(dataDir);
    if (fresh) emptyData(dataDir);
    await run();
  } catch (error) {
    if (!stopping.signal.aborted) throw error; // otherwise only the start was cut short
  } finally {
    stopping.abort();
    for (const rank of ranks.toReversed()) await Promise.all(rank.map((part) => part.stop()));
    unlisten();
    lock.release();
  }
  if (died[0] !== undefined) throw new PlainError(`${died[0]}. Logs are in ${join(dataDir, "logs")} and beside the data.`);
  log.say("Stopped. The next one goes on where this one was.");

  async function run() {
    const { signal } = stopping;
    const isOver = once(signal, "abort");
    const [databaseUrl, amqpUrl] = await startServers();
    signal.throwIfAborted();
    const managerPort = port === 0 ? await freePort() : port;
    const url = `http://127.0.0.1:${managerPort}`;
    const manager = program("manager", programs.manager, {
      ...process.env,
      AMQP_URL: amqpUrl,
      DATABASE_URL: databaseUrl,
      HOST: "127.0.0.1",
      PORT: String(managerPort),
    });
    const service = program("service", programs.service, {
      ...withoutManagersSecrets(process.env),
      AMQP_URL: amqpUrl,
      SERVICE_NAME: "dev",
      OBSERVERS_DIR: observersDir,
      HOST: "127.0.0.1",
      PORT: "0",
      WORKER_COUNT: process.env["WORKER_COUNT"] ?? "100",
      SLOTS: process.env["SLOTS"] ?? "1",
      ALLOW_PRIVATE_ADDRESSES: process.env["ALLOW_PRIVATE_ADDRESSES"] ?? "true",
    });
    ranks.push([manager]);
    await Promise.race([manager.start(), isOver]);
    signal.throwIfAborted();
    ranks.push([service]);
    const life = serviceLife(service, { signal, say: log.say });
    const trouble = (/** @type {string} */ why) => log.say(`Saved files are not seen any more: ${why}`);
    const unwatch = watchCode(observersDir, life.saved, trouble);
    const unread = readKeys(process.stdin, {
      r: () => void life.restart(),
      o: () => openPage(url, log.say),
      q: stop,
    });
    for (const line of greeting(url, observersDir, dataDir)) log.say(line);
    endWith("The manager", manager.exited);
    try {
      await life.live();
    } finally {
      unwatch();
      unread();
    }
  }

  async function startServers() {
    const ours = Object.entries({ DATABASE_URL: "PostgreSQL", AMQP_URL: "RabbitMQ" }).filter(
      ([name]) => givenServer(name) === undefined,
    );
    if (ours.length > 0) log.say(`Starting ${ours.map(([, server]) => server).join(" and ")} ...`);
    /** @type {{ name: string, stop: () => Promise<void> }[]} */
    const rank = [];
    ranks.push(rank);
    const database = givenOr("DATABASE_URL", async () => {
      const server = await startPostgres({ dir: join(dataDir, "postgres") });
      rank.push({ name: "PostgreSQL", stop: () => server.stop() });
      endWith("PostgreSQL", server.exited);
      return server.databaseUrl;
    });
    const broker = givenOr("AMQP_URL", async () => {
      const server = await startRabbitmq({ dir: join(dataDir, "rabbitmq") });
      rank.push({ name: "RabbitMQ", stop: () => server.stop() });
      endWith("RabbitMQ", server.exited);
      return server.amqpUrl;
    });
    await Promise.allSettled([database, broker]); // a server that is still starting could not be stopped
    return Promise.all([database, broker]);
  }

  /** Without it nothing of this is of use. @param {string} name @param {Promise<string>} exited */
  function endWith(name, exited) {
    void exited.then((outcome) => {
      if (stopping.signal.aborted) return;
      died.push(`${name} ended (${outcome})`);
      log.say(`${died[0]}, and so does all of this.`);
      stopping.abort();
    });
  }

  /** @param {string} name @param {string} file @param {NodeJS.ProcessEnv} env */
  function program(name, file, env) {
    return programOf({
      name: `the ${name}`,
      command: [process.execPath, file],
      cwd: projectDir,
      env,
      logFile: join(dataDir, "logs", `${name}.log`),
      pidFile: join(dataDir, "run", `${name}.pid.json`),
      readyPath: "/readyz",
      onLine: (line) => log.take(name, line),
      freshCommand: "unacked dev --fresh",
    });
  }
}

/** @param {string} projectDir @param {string | undefined} given */
function folderOf(projectDir, given) {
  const folder = (given === undefined ? FOLDERS : [given])
    .map((one) => resolve(projectDir, one))
    .find((one) => existsSync(one));
  if (folder !== undefined) return folder;
  if (given !== undefined) throw new PlainError(`There is no folder ${resolve(projectDir, given)}.`);
  throw new PlainError(
    `There is neither ./${FOLDERS.join(" nor ./")} here. Name the folder of your observers: unacked dev DIR`,
  );
}

/** @param {number} port */
async function checkPort(port) {
  const taken = port === 0 ? null : await whyPortIsTaken(port);
  if (taken === null) return;
  const why = taken === "EACCES" ? "needs root" : "is in use";
  throw new PlainError(`Port ${port} on 127.0.0.1 ${why}. Choose another: unacked dev --port 0 takes any free one.`);
}

/** @param {"DATABASE_URL" | "AMQP_URL"} variable @param {() => Promise<string>} start */
const givenOr = async (variable, start) => givenServer(variable) ?? start();

/** @param {string} dataDir */
function emptyData(dataDir) {
  removePostgresData(join(dataDir, "postgres"));
  for (const folder of ["rabbitmq", "logs"]) rmSync(join(dataDir, folder), { recursive: true, force: true });
}

/** @param {string} url @param {string} observersDir @param {string} dataDir */
function greeting(url, observersDir, dataDir) {
  const here = (/** @type {string} */ path) => relative(process.cwd(), path) || ".";
  return [
    `Unacked runs: ${url}`,
    `The service starts. Its types are those of ${here(observersDir)}: save a file, and its observers go over to the new code.`,
    `Create one:  npx unacked create TYPE NAME --url ${url}`,
    `Data and logs are in ${here(dataDir)}.  Keys: r restarts the service, o opens the page, q ends it all.`,
  ];
}
