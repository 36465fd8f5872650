import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { say, step } from "../progress.mjs";
import { freePort } from "../servers/free-port.mjs";
import { givenServer } from "../servers/given-server.mjs";
import { removePostgresData, startPostgres } from "../servers/postgres.mjs";
import { startRabbitmq } from "../servers/rabbitmq.mjs";
import { removeAddresses, writeAddresses } from "./addresses.mjs";
import { createDemonstration, createDemonstrationFlow } from "./demonstration.mjs";
import { greeting } from "./greeting.mjs";
import { keepRunning } from "./keep-running.mjs";
import { programOf } from "./program.mjs";
import { withoutManagersSecrets } from "./service-env.mjs";

/**
 * The whole system on one machine, in the order of who needs whom: database and broker, manager, services, demonstration.
 *
 * @param {{ root: string, dataDir: string, options: import("./options.mjs").StartOptions, signal: AbortSignal }} input
 * @returns {{ run: () => Promise<unknown>, stop: () => Promise<void> }} `run` resolves when all runs, or is to be stopped; `stop`,
 *   at any time, when nothing does any more, and in the opposite order.
 */
export function launchOf({ root, dataDir, options, signal }) {
  /** @typedef {{ name: string, pid: number, exited: Promise<string>, start: () => Promise<void>, stop: () => Promise<void> }} Part */
  /** Those of one rank are stopped together. @type {Part[][]} */
  const ranks = [];
  /** A server that is just being started can be stopped only once it runs. @type {Promise<unknown>[]} */
  const starting = [];
  const logDir = join(dataDir, "logs");
  const addressFile = join(dataDir, "run", "servers.env");
  /** Of the broker that we started. @type {string | null} */
  let brokerPage = null;

  /** A program that finds no database is waited for, for a minute; who has pressed Ctrl-C does not wait for it. */
  const run = () => Promise.race([startAll(), once(signal, "abort")]);

  async function startAll() {
    if (options.fresh) emptyData(dataDir);
    removeAddresses(addressFile); // an earlier start that was killed has left it
    const [databaseUrl, amqpUrl] = await startServers();
    signal.throwIfAborted(); // what ends this waits for the servers, too, and has taken the addresses away by now
    const addresses = ours({ AMQP_URL: amqpUrl, DATABASE_URL: databaseUrl });
    if (Object.keys(addresses).length > 0) writeAddresses(addressFile, addresses);
    const managerUrl = await startManager(databaseUrl, amqpUrl);
    const services = await startServices(amqpUrl);
    if (options.demo) await startDemonstration(managerUrl, amqpUrl);
    signal.throwIfAborted();
    for (const part of ranks.flat()) void keepRunning(part, signal);
    const { observers } = options;
    const hasTasks = options.demo && options.services > 0;
    say(greeting({ managerUrl, brokerPage, hasTasks, services, observers, logDir: shown(logDir), dataDir: shown(dataDir) }));
  }

  async function stop() {
    await Promise.allSettled(starting);
    removeAddresses(addressFile);
    for (const rank of ranks.toReversed()) {
      say(`Stopping ${rank.map((part) => part.name).join(", ")} ...`);
      await Promise.all(rank.map((part) => part.stop()));
    }
  }

  async function startServers() {
    const database = givenOr("DATABASE_URL", "PostgreSQL", async () => {
      const server = await startPostgres({ dir: join(dataDir, "postgres") });
      ranks.unshift([named("PostgreSQL", server)]); // the last to stop, whichever of the two was up first
      return server.databaseUrl;
    });
    const broker = givenOr("AMQP_URL", "RabbitMQ", async () => {
      const server = await startRabbitmq({ dir: join(dataDir, "rabbitmq") });
      ranks.push([named("RabbitMQ", server)]);
      brokerPage = server.managementUrl;
      return server.amqpUrl;
    });
    starting.push(database, broker);
    return Promise.all([database, broker]);
  }

  /**
   * @param {string} databaseUrl
   * @param {string} amqpUrl
   */
  async function startManager(databaseUrl, amqpUrl) {
    // Chosen here rather than by the manager: after a crash it comes back to the same address.
    const port = options.port === 0 ? await freePort() : options.port;
    const addresses = { AMQP_URL: amqpUrl, DATABASE_URL: databaseUrl, HOST: "127.0.0.1", PORT: String(port) };
    const env = { ...process.env, ...addresses };
    const manager = program("observer-manager", "services/observer-manager/bundle/main.js", { env, readyPath: "/readyz" });
    await startRank("Starting the manager", [manager]);
    return manager.url;
  }

  /** @param {string} amqpUrl */
  async function startServices(amqpUrl) {
    const services = Array.from({ length: options.services }, (_, index) => {
      const name = `observer-service-${index + 1}`;
      const env = {
        AMQP_URL: amqpUrl,
        SERVICE_NAME: name,
        WORKER_COUNT: String(options.workers),
        OBSERVERS_DIR: options.observers ?? join(root, "observers"),
        HOST: "127.0.0.1",
        PORT: "0",
        // Everything here is on this machine, the demonstration's exchange too.
        ALLOW_PRIVATE_ADDRESSES: process.env.ALLOW_PRIVATE_ADDRESSES ?? "true",
      };
      return program(name, "services/observer-service/bundle/main.js", { env, readyPath: "/readyz" });
    });
    if (services.length > 0)
      await startRank(`Starting ${services.length} observer service${services.length === 1 ? "" : "s"}`, services);
    return services;
  }

  /**
   * @param {string} managerUrl
   * @param {string} amqpUrl
   */
  async function startDemonstration(managerUrl, amqpUrl) {
    const port = await exchangePort(join(dataDir, "run", "exchange.port"));
    const recording = options.recording === null ? [] : ["--recording", options.recording];
    const exchange = program("exchange", "demo/dist/exchange.js", { env: {}, args: ["--port", String(port), ...recording] });
    // In a pool of its own: whatever else is tried here has the others to itself.
    const tasks = program("demo-tasks", "services/observer-service/bundle/main.js", {
      env: {
        AMQP_URL: amqpUrl,
        SERVICE_NAME: "demo-tasks",
        POOL: "demo",
        WORKER_COUNT: "1",
        TASK_WORKERS: "2",
        SLOTS: "1",
        OBSERVERS_DIR: join(root, "demo/dist/tasks"),
        HOST: "127.0.0.1",
        PORT: "0",
      },
      readyPath: "/readyz",
    });
    await startRank("Starting the demonstration", options.services === 0 ? [exchange] : [exchange, tasks]);
    if (options.services === 0) return say("No observer service, so no observers for the demonstration.");
    const complaints = await step("Creating the demonstration's observers, and a flow", async () => [
      ...(await createDemonstration(managerUrl, exchange.url, options.services * options.workers)),
      ...(await createDemonstrationFlow(managerUrl)),
    ]);
    for (const complaint of complaints) say(`  ${complaint}`);
  }

  /**
   * @param {string} what
   * @param {import("./program.mjs").Program[]} rank
   */
  async function startRank(what, rank) {
    signal.throwIfAborted();
    ranks.push(rank);
    const complaints = () => rank.flatMap(({ complaint }) => complaint ?? []);
    await step(what, () => Promise.all(rank.map((part) => part.start())), complaints);
  }

  /**
   * @param {string} name
   * @param {string} file
   * @param {{ env: NodeJS.ProcessEnv, args?: string[], readyPath?: string }} details
   */
  function program(name, file, { env, args = [], readyPath }) {
    const command = [process.execPath, join(root, file), ...args];
    const paths = {
      cwd: root,
      logFile: join(logDir, `${name}.log`),
      pidFile: join(dataDir, "run", `${name}.pid.json`),
    };
    return programOf({ name, command, ...paths, readyPath, env: { ...withoutManagersSecrets(process.env), ...env } });
  }

  return { run, stop };
}

/**
 * @param {"DATABASE_URL" | "AMQP_URL"} variable
 * @param {string} name
 * @param {() => Promise<string>} start
 */
function givenOr(variable, name, start) {
  const given = givenServer(variable);
  if (given === undefined) return step(`Starting ${name}`, start);
  say(`Using the ${name} that ${variable} names.`);
  return Promise.resolve(given);
}

/**
 * Those that we were not given.
 *
 * @param {Record<string, string>} addresses
 */
function ours(addresses) {
  return Object.fromEntries(Object.entries(addresses).filter(([variable]) => givenServer(variable) === undefined));
}

/**
 * A server with a name, its getters still alive.
 *
 * @template {object} T
 * @param {string} name
 * @param {T} server
 * @returns {T & { name: string }}
 */
function named(name, server) {
  return Object.defineProperty(/** @type {any} */ (server), "name", { value: name });
}

/** @param {string} dataDir */
function emptyData(dataDir) {
  say("Emptying the data of earlier starts.");
  if (givenServer("DATABASE_URL") !== undefined || givenServer("AMQP_URL") !== undefined) {
    say("What DATABASE_URL and AMQP_URL name is not emptied: that is yours.");
  }
  removePostgresData(join(dataDir, "postgres"));
  for (const folder of ["rabbitmq", "logs"]) rmSync(join(dataDir, folder), { recursive: true, force: true });
}

/**
 * The same at each start, as the resumed observers look for the exchange where it was.
 *
 * @param {string} file
 */
async function exchangePort(file) {
  const port = await freePort(existsSync(file) ? Number(readFileSync(file, "utf8")) : undefined);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, `${port}\n`);
  return port;
}

/** @param {string} path */
function shown(path) {
  return relative(process.cwd(), path) || ".";
}
