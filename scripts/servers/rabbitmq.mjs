import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { containerOf } from "./rabbitmq-docker.mjs";
import { addresses, nodeEnvironment, nodeSettings, writeConfig } from "./rabbitmq-node.mjs";
import { dockerAnswers, findRabbitmq } from "./rabbitmq-program.mjs";
import { endServerProcess, startServerProcess, waitUntilReady } from "./server-process.mjs";

/**
 * A private RabbitMQ node: own name, ports, folders, cookie and port mapper, on loopback alone. It cannot meet a broker
 * that runs on this machine already, nor a second one of ours.
 *
 * @typedef {object} Rabbitmq
 * @property {string} amqpUrl
 * @property {string} managementUrl with user and password, without a path
 * @property {number} port
 * @property {number} pid of the virtual machine itself, never a wrapper's; that of the present life
 * @property {Promise<string>} exited of the present life: resolves when it ended, by itself or not
 * @property {() => Promise<void>} start again, on the same ports and data
 * @property {() => Promise<void>} stop in order, port mapper included
 * @property {() => Promise<void>} kill with SIGKILL; resolves when it is gone
 */

/** @typedef {import("./rabbitmq-node.mjs").NodeSettings} NodeSettings */

/**
 * @typedef {object} RabbitmqOptions
 * @property {string} dir everything it writes is in there; data of an earlier start is taken up again
 * @property {number} [port] otherwise that of the earlier start if it is free, else any free one
 * @property {Record<string, string | number>} [config] lines for rabbitmq.conf, over the defaults below
 * @property {string[]} [plugins]
 */

const START_TIMEOUT_MS = 180_000;
const STOP_GRACE_MS = 20_000;

/**
 * Starts it from the installed `rabbitmq-server`, or as a container if only a Docker engine is there.
 *
 * @param {RabbitmqOptions} options
 * @returns {Promise<Rabbitmq>}
 */
export async function startRabbitmq(options) {
  const dir = resolve(options.dir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  for (let attempt = 1; ; attempt += 1) {
    const settings = await nodeSettings(dir, options.port);
    const life = await lifeOf(dir, settings, options);
    try {
      await life.start();
      return life;
    } catch (error) {
      await life.stop();
      // Somebody took one of the ports between our look and the broker's start.
      if (
        attempt < 3 &&
        options.port === undefined &&
        /eaddrinuse|address already in use|already allocated|dist_port_already_used/i.test(String(error))
      )
        continue;
      throw error;
    }
  }
}

/**
 * @param {string} dir
 * @param {NodeSettings} settings
 * @param {RabbitmqOptions} options
 * @returns {Promise<Rabbitmq>}
 */
async function lifeOf(dir, settings, options) {
  const program = findRabbitmq();
  writeConfig(dir, settings, options, program === null);
  if (program !== null) return installedNode(dir, settings, program);
  if (await dockerAnswers()) return containerOf(dir, settings, (name, logFile) => readiness(name, [logFile], settings));
  throw new Error(
    "RabbitMQ is not installed and no Docker engine answers. Install rabbitmq-server, start Docker, or set AMQP_URL.",
  );
}

/**
 * @param {string} dir
 * @param {NodeSettings} settings
 * @param {import("./rabbitmq-program.mjs").RabbitmqProgram} program
 * @returns {Rabbitmq}
 */
function installedNode(dir, settings, program) {
  const env = nodeEnvironment(dir, settings);
  const logFile = join(dir, "log", "rabbitmq.log");
  const consoleFile = join(dir, "log", "console.log");
  const startProgram = (/** @type {string[]} */ command, /** @type {string} */ pidFile) => {
    const [first = "", ...args] = program.command(dir, command);
    return startServerProcess({ program: first, args, env, cwd: dir, logFile: consoleFile, pidFile: join(dir, pidFile) });
  };
  /** @type {import("./server-process.mjs").ServerProcess | undefined} */
  let mapper;
  /** @type {import("./server-process.mjs").ServerProcess | undefined} */
  let node;

  async function start() {
    if (node !== undefined && node.outcome() === null) throw new Error("This RabbitMQ node runs already.");
    for (const file of [logFile, consoleFile]) rmSync(file, { force: true }); // an error shows this start's lines alone
    if (mapper === undefined || mapper.outcome() !== null) {
      // Ours, in the foreground, rather than the one that the node would start as a daemon and leave behind.
      const command = [program.epmd, "-port", String(settings.epmdPort), "-address", "127.0.0.1"];
      mapper = await startProgram(command, "epmd.pid.json");
    }
    node = await startProgram([program.server], "node.pid.json");
    await waitUntilReady(node, readiness("RabbitMQ", [logFile, consoleFile], settings));
  }

  async function stop() {
    if (node !== undefined) await endServerProcess(node, "SIGTERM", STOP_GRACE_MS);
    if (mapper !== undefined) await endServerProcess(mapper, "SIGTERM", 2_000);
  }

  return {
    ...addresses(settings),
    port: settings.port,
    get pid() {
      return node?.pid ?? -1;
    },
    get exited() {
      return node?.exited ?? Promise.resolve("never started");
    },
    start,
    stop,
    async kill() {
      if (node !== undefined) await endServerProcess(node, "SIGKILL", 1_000);
    },
  };
}

/**
 * @param {string} name
 * @param {string[]} logFiles
 * @param {NodeSettings} settings
 */
function readiness(name, logFiles, settings) {
  return { name, logFiles, timeoutMs: START_TIMEOUT_MS, isReady: () => listensItself(settings) };
}

/**
 * Whether this node, and not another program that took its port a moment before, listens for AMQP: management, a plugin,
 * answers while the node is still to open that port, and if the port is taken the node ends.
 *
 * @param {NodeSettings} settings
 * @returns {Promise<boolean>}
 */
async function listensItself({ managementPort, nodeName }) {
  try {
    const answer = await fetch(`http://127.0.0.1:${managementPort}/api/overview`, {
      // No keep-alive: the node waits 5 s for an idle connection when it stops.
      headers: { authorization: `Basic ${btoa("guest:guest")}`, connection: "close" },
      signal: AbortSignal.timeout(2_000),
    });
    if (!answer.ok) return false;
    const { node, listeners } = /** @type {{ node: string, listeners: { node: string, protocol: string }[] }} */ (
      await answer.json()
    );
    return node === nodeName && listeners.some((each) => each.node === nodeName && each.protocol === "amqp");
  } catch {
    return false; // not listening yet, or somebody else
  }
}
