import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.mjs";

/** What makes a RabbitMQ node a node of its own: its name, ports and cookie, its configuration, its environment. */

/**
 * @typedef {object} NodeSettings
 * @property {string} nodeName
 * @property {string} cookie
 * @property {string} [host] the address that it is reached at, and talks to other nodes from; default: loopback
 * @property {number} port
 * @property {number} managementPort
 * @property {number} distributionPort
 * @property {number} epmdPort
 */

const LOOPBACK = "127.0.0.1";

// An unacked message is a running job here. At the default of 30 minutes the broker would cut every job each half hour.
// Ten years; `undefined` would do before 4.3, which refuses it.
const CONSUMER_TIMEOUT_MS = 315_360_000_000;

// Erlang's schedulers spin for a while before they sleep. On a small machine that others share this is time stolen.
const ERLANG_ARGS = "+sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface";

/**
 * The settings that make the node itself again at the next start: its data lies under its name.
 *
 * @param {string} dir
 * @param {number | undefined} port
 * @returns {Promise<NodeSettings>}
 */
export async function nodeSettings(dir, port) {
  const file = join(dir, "node.json");
  /** @type {Partial<NodeSettings>} */
  const earlier = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  const settings = {
    // At localhost, as the machine's own name need not resolve to anything.
    nodeName: earlier.nodeName ?? `unacked-${randomBytes(4).toString("hex")}@localhost`,
    cookie: earlier.cookie ?? randomBytes(20).toString("hex"),
    ...(await ports(earlier, port)),
  };
  writeFileSync(`${file}.new`, JSON.stringify(settings, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file); // half a file would cost the node its data
  return settings;
}

/**
 * Four that differ: none is taken before the node takes it, so that a free one may be found twice.
 *
 * @param {Partial<NodeSettings>} earlier
 * @param {number} [amqpPort]
 * @returns {Promise<Pick<NodeSettings, "port" | "managementPort" | "distributionPort" | "epmdPort">>}
 */
async function ports(earlier, amqpPort) {
  const found = {
    port: amqpPort ?? (await freePort(earlier.port)),
    managementPort: await freePort(earlier.managementPort),
    distributionPort: await freePort(earlier.distributionPort),
    epmdPort: await freePort(earlier.epmdPort),
  };
  return new Set(Object.values(found)).size === 4 ? found : ports({}, amqpPort);
}

/**
 * @param {string} dir
 * @param {NodeSettings} settings
 * @param {import("./rabbitmq.mjs").RabbitmqOptions} options
 * @param {boolean} inContainer where the listeners are the image's own and the engine does the publishing
 */
export function writeConfig(dir, settings, { config = {}, plugins = ["rabbitmq_management"] }, inContainer) {
  const { host = LOOPBACK } = settings;
  const listeners = {
    "listeners.tcp.1": `${host}:${settings.port}`,
    "management.tcp.ip": host,
    "management.tcp.port": settings.managementPort,
    "log.console": "false",
    "log.file": "rabbitmq.log",
  };
  const lines = { consumer_timeout: CONSUMER_TIMEOUT_MS, ...(inContainer ? {} : listeners), ...config };
  const text = Object.entries(lines).map(([key, value]) => `${key} = ${value}\n`);
  writeFileSync(join(dir, "rabbitmq.conf"), text.join(""));
  writeFileSync(join(dir, "enabled_plugins"), `[${plugins.join(",")}].\n`);
}

/**
 * @param {string} dir
 * @param {NodeSettings} settings
 * @returns {NodeJS.ProcessEnv}
 */
export function nodeEnvironment(dir, settings) {
  const { host = LOOPBACK } = settings;
  const home = join(dir, "home");
  const logs = join(dir, "log");
  for (const folder of [home, logs]) mkdirSync(folder, { recursive: true });
  const cookieFile = join(home, ".erlang.cookie");
  if (!existsSync(cookieFile)) writeFileSync(cookieFile, settings.cookie);
  chmodSync(cookieFile, 0o400); // Erlang refuses a cookie that others can read

  // Whatever the shell says about another node must not reach this one.
  const inherited = Object.entries(process.env).filter(([name]) => !/^(RABBITMQ_|ERL_|NOTIFY_SOCKET)/.test(name));
  return {
    ...Object.fromEntries(inherited),
    HOME: home,
    LC_ALL: "C.UTF-8",
    ERL_EPMD_PORT: String(settings.epmdPort),
    ERL_EPMD_ADDRESS: host,
    RABBITMQ_NODENAME: settings.nodeName,
    RABBITMQ_USE_LONGNAME: String(settings.nodeName.includes(".")),
    RABBITMQ_DIST_PORT: String(settings.distributionPort),
    RABBITMQ_MNESIA_BASE: join(dir, "data"),
    RABBITMQ_LOG_BASE: logs,
    RABBITMQ_CONFIG_FILE: join(dir, "rabbitmq.conf"),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(dir, "advanced.config"),
    RABBITMQ_GENERATED_CONFIG_DIR: join(dir, "generated"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, "enabled_plugins"),
    RABBITMQ_PID_FILE: join(dir, "rabbitmq.pid"),
    RABBITMQ_CONF_ENV_FILE: "/dev/null",
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `${ERLANG_ARGS} {${host.replaceAll(".", ",")}}`,
    // Makes the start script become the virtual machine rather than wait for it, so that our child's pid is the node's
    // and a signal reaches it.
    RUNNING_UNDER_SYSTEMD: "true",
  };
}

/** @param {NodeSettings} settings */
export function addresses(settings) {
  return {
    amqpUrl: `amqp://guest:guest@127.0.0.1:${settings.port}`,
    managementUrl: `http://guest:guest@127.0.0.1:${settings.managementPort}`,
  };
}
