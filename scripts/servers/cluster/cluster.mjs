import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { runTool } from "../../setup/run-tool.mjs";
import { nodeEnvironment, writeConfig } from "../rabbitmq-node.mjs";
import { findRabbitmq, rabbitmqOfDebian } from "../rabbitmq-program.mjs";
import { endServerProcess, startServerProcess, waitUntilReady } from "../server-process.mjs";
import { startDoors } from "./doors.mjs";
import { startNetwork, whyNoNetwork } from "./network.mjs";

/**
 * A RabbitMQ cluster of three nodes, each on a host of its own (network.mjs), all of them reached through 127.0.0.1 whatever
 * is cut between them.
 *
 * @typedef {"a" | "b" | "c"} NodeName
 *
 * @typedef {object} Cluster
 * @property {(node: NodeName) => string} amqpUrl
 * @property {(broker: string) => NodeName} nodeAt of the name that RabbitMQ has for it
 * @property {string} managementUrl of node c
 * @property {string} version RabbitMQ's
 * @property {(links: [NodeName, NodeName][], how: import("./network.mjs").CutKind) => Promise<void>} cut
 * @property {() => Promise<void>} heal
 * @property {(node: NodeName, expression: string) => Promise<string>} evaluate an Erlang expression on a node
 * @property {(node: NodeName, queue: string, vhost?: string) => Promise<NodeName>} leaderOf as that node knows it
 * @property {(queue: string, to: NodeName, vhost?: string) => Promise<void>} lead makes a node the leader of a quorum queue
 * @property {() => Promise<void>} untilMet after a heal: until every node reaches every other
 * @property {() => Promise<void>} untilAllRun until every node sees three run, though it may hold one for parted
 * @property {(timeoutMs?: number) => Promise<void>} untilWhole until all three nodes run together, and none holds another for
 *   parted. After a cut mostly `pause_minority` alone gets there by itself: before 4.3 the nodes' books stay apart under `ignore`
 *   until one side has been started again
 * @property {() => Promise<NodeName[]>} strays nodes that do not run, or miss another, or hold it for parted: to be started again
 * @property {(handling: "ignore" | "pause_minority" | "autoheal") => Promise<void>} handlePartitionsBy until a node starts again
 * @property {(node: NodeName, signal: "SIGKILL" | "SIGTERM") => Promise<void>} endNode resolves when it has ended
 * @property {(node: NodeName, root?: string) => Promise<void>} start a node again; `root`: from now on by the RabbitMQ of this
 *   folder with another Debian (debian-root.mjs)
 * @property {() => Promise<void>} stop all of it
 */

const AMQP = 5_672;
const MANAGEMENT = 15_672;
const START_TIMEOUT_MS = 120_000;
/** How a node sees the cluster: how many run, and whom it holds for parted from itself. */
const VIEW = "{length(rabbit_nodes:all_running()), try rabbit_node_monitor:partitions() catch error:undef -> [] end}"; // from 4.3 on it holds none for parted
const WHOLE = "{3, []}";
/** @type {NodeName[]} */
const NAMES = ["a", "b", "c"];

/**
 * @param {{ dir: string, netTicktimeS: number, config?: Record<string, string | number>, plugins?: string[] }} options
 * @returns {Promise<Cluster>}
 */
export async function startCluster({ dir, netTicktimeS, config = {}, plugins = [] }) {
  const installed = installedRabbitmq();
  /** @type {Record<string, import("../rabbitmq-program.mjs").RabbitmqProgram>} */
  const programs = {};
  const network = await startNetwork(NAMES);
  const doors = startDoors(network);
  const cookie = randomBytes(20).toString("hex");
  const hosts = Object.fromEntries(network.hosts.map((host) => [host.name, host]));
  const host = (/** @type {NodeName} */ name) => /** @type {import("./network.mjs").Host} */ (hosts[name]);
  const nodeName = (/** @type {NodeName} */ name) => `rabbit@${host(name).address}`;
  const formation = {
    "loopback_users.guest": "false",
    "cluster_formation.peer_discovery_backend": "classic_config",
    "cluster_formation.classic_config.nodes.1": nodeName("a"), // the others would only be waited for
  };
  /** @type {Record<string, number>} */
  const ports = {};
  for (const name of NAMES) ports[name] = await doors.open(host(name), AMQP);
  const managementPort = await doors.open(host("c"), MANAGEMENT);
  /** @type {Record<string, import("../server-process.mjs").ServerProcess>} */
  const processes = {};

  /** @param {NodeName} name @param {string} [root] */
  async function start(name, root) {
    if (root !== undefined) programs[name] = rabbitmqOfDebian(root);
    const program = programs[name] ?? installed;
    const home = join(dir, name);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    const settings = {
      nodeName: nodeName(name),
      cookie,
      host: host(name).address,
      port: AMQP,
      managementPort: MANAGEMENT,
      distributionPort: 25_672,
      epmdPort: 4_369,
    };
    writeConfig(home, settings, { dir: home, plugins, config: { ...formation, ...config } }, false);
    const env = nodeEnvironment(home, settings);
    env.RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS += ` -kernel net_ticktime ${netTicktimeS}`;
    const consoleFile = join(home, "log", "console.log");
    const run = async (/** @type {string} */ role, /** @type {string} */ path) => {
      if (processes[`${role} ${name}`]?.outcome() === null) return;
      const [first = "", ...args] = [...host(name).enter, ...program.command(home, [path])];
      const pidFile = join(home, `${role}.pid.json`);
      processes[`${role} ${name}`] = await startServerProcess({
        program: first,
        args,
        env,
        cwd: home,
        logFile: consoleFile,
        pidFile,
      });
    };
    await run("epmd", program.epmd);
    await run("node", program.server);
    await waitUntilReady(node(name), {
      name: `RabbitMQ's node ${name}`,
      logFiles: [join(home, "log", "rabbitmq.log"), consoleFile],
      timeoutMs: START_TIMEOUT_MS,
      isReady: () => greetsAmqp(ports[name] ?? 0),
    });
    await evaluate(name, "rabbit:await_startup()"); // plugins come after the listeners
  }

  const node = (/** @type {NodeName} */ name) =>
    /** @type {import("../server-process.mjs").ServerProcess} */ (processes[`node ${name}`]);

  const evaluate = async (/** @type {NodeName} */ name, /** @type {string} */ expression) => {
    const call = ["erl_call", "-r", "-c", cookie, "-n", nodeName(name), "-e"];
    const [first = "", ...args] = [...host(name).enter, "/bin/sh", "-c", `printf '%s.\\n' "$0" | "$@"`, expression, ...call];
    const answer = (await runTool(first, args)).trim();
    const value = /^\{ok, (.*)\}$/s.exec(answer)?.[1];
    if (value === undefined) throw new Error(`Node ${name} answered to ${expression}: ${answer}`);
    return value;
  };
  const everywhere = (/** @type {string} */ expression) => Promise.all(NAMES.map((name) => evaluate(name, expression)));

  async function leaderOf(/** @type {NodeName} */ name, /** @type {string} */ queue, vhost = "/") {
    const answer = await evaluate(name, `${found(queue, vhost)}, {_, N} = amqqueue:get_pid(Q), N`);
    return /** @type {NodeName} */ (NAMES.find((each) => answer.includes(host(each).address)));
  }

  async function stop() {
    await Promise.all(Object.values(processes).map((each) => endServerProcess(each, "SIGKILL", 1_000)));
    doors.end();
    network.end();
  }

  let version = "";
  try {
    await start("a"); // the first forms the cluster, the others join it
    await Promise.all([start("b"), start("c")]);
    version = (await evaluate("a", "rabbit_misc:version()")).replaceAll('"', "");
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    nodeAt: (broker) => /** @type {NodeName} */ (NAMES.find((name) => nodeName(name) === broker)),
    amqpUrl: (name) => `amqp://guest:guest@127.0.0.1:${ports[name]}`,
    managementUrl: `http://guest:guest@127.0.0.1:${managementPort}`,
    version,
    cut: (links, how) =>
      network.cut(
        links.map(([x, y]) => [host(x), host(y)]),
        how,
      ),
    heal: network.heal,
    evaluate,
    leaderOf,
    async lead(queue, to, vhost = "/") {
      await evaluate(to, `${found(queue, vhost)}, P = {N, _} = amqqueue:get_pid(Q), ra:transfer_leadership(P, {N, node()})`);
      for (const name of NAMES)
        await untilEqual(async () => String(await leaderOf(name, queue, vhost)), to, `${to} leads ${queue}`);
    },
    async untilMet() {
      const meet = `[net_kernel:connect_node(N) || N <- rabbit_nodes:all()], length(nodes())`;
      for (const name of NAMES) await untilEqual(() => evaluate(name, meet), "2", `node ${name} has met the others again`);
    },
    async untilAllRun() {
      const running = "length(rabbit_nodes:all_running())";
      for (const name of NAMES) await untilEqual(() => evaluate(name, running), "3", `node ${name} sees three nodes run`);
    },
    async untilWhole(timeoutMs) {
      for (const name of NAMES)
        await untilEqual(() => evaluate(name, VIEW), WHOLE, `node ${name} runs with the others`, timeoutMs);
    },
    async strays() {
      const views = await Promise.all(NAMES.map((name) => evaluate(name, VIEW).catch(String)));
      return NAMES.filter((_, i) => views[i] !== WHOLE);
    },
    async handlePartitionsBy(handling) {
      await everywhere(`application:set_env(rabbit, cluster_partition_handling, ${handling})`);
    },
    start,
    async endNode(name, signal) {
      await endServerProcess(node(name), signal, 30_000);
    },
    stop,
  };
}

/** @param {string} queue @param {string} vhost */
const found = (queue, vhost) => `{ok, Q} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"${vhost}">>, queue, <<"${queue}">>))`;

/** @param {() => Promise<string>} look @param {string} expected @param {string} what */
async function untilEqual(look, expected, what, timeoutMs = START_TIMEOUT_MS) {
  const deadline = performance.now() + timeoutMs;
  for (let seen = ""; seen !== expected; ) {
    if (performance.now() > deadline) throw new Error(`Not so within ${timeoutMs / 1_000} s: ${what} (${seen}).`);
    seen = await look().catch(String);
    if (seen !== expected) await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function installedRabbitmq() {
  const program = findRabbitmq();
  if (program === null) throw new Error("RabbitMQ is not installed.");
  return program;
}

/** @returns {string | null} why no such cluster can be had here; null if it can */
export function whyNoCluster() {
  return whyNoNetwork() ?? (findRabbitmq() === null ? "RabbitMQ is not installed" : null);
}

/**
 * A relay takes a connection whether or not the node behind it listens: so it has to greet (or refuse, an older protocol).
 *
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function greetsAmqp(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once("connect", () => socket.write("AMQP\x00\x00\x09\x01"));
    socket.once("data", () => {
      resolve(true);
      socket.destroy();
    });
    socket.once("error", () => resolve(false)).once("close", () => resolve(false));
  });
}
