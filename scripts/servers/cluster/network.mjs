import { spawn, spawnSync } from "node:child_process";
import { holdOnLeash } from "../../processes/leash.mjs";
import { runTool } from "../../setup/run-tool.mjs";
import { findOnPath } from "../rabbitmq-program.mjs";

/**
 * Hosts of their own on this machine: a network namespace each, joined by a router in one more. No namespace has a name, and
 * nothing leads out of them: each lives as long as the process that holds it, which is on our leash, and addresses cannot
 * collide with anybody's. Needs Linux and root.
 *
 * @typedef {object} Host
 * @property {string} name
 * @property {string} address
 * @property {string[]} enter what makes a command line one that runs there
 *
 * @typedef {object} Network
 * @property {Host[]} hosts
 * @property {string[]} enterRouter from there every host is reached, whatever is cut
 * @property {(links: Link[], how: CutKind) => Promise<void>} cut nothing passes between the two hosts of each link any more
 * @property {() => Promise<void>} heal everything passes again
 * @property {() => void} end
 *
 * @typedef {readonly [Host, Host]} Link
 * @typedef {"reset" | "silent"} CutKind `reset`: open connections of the link end at once. `silent`: packets just vanish
 */

/**
 * Does in a namespace of its own what a network needs: root in a container often lacks the right, and a small kernel the means
 * (links, rules, the end of somebody's connection).
 */
const TRIAL = `
ip link set lo up
ip link add trial type veth peer name other
sysctl -qw net.ipv4.ip_forward=1
ip rule add blackhole from 10.99.1.1 to 10.99.2.1
exec "$0" -e '
  const server = require("net").createServer((socket) => socket.on("error", () => undefined)).listen(7777, "127.0.0.1", () => {
    const client = require("net").connect(7777, "127.0.0.1");
    client.once("connect", () => require("child_process").execFile("ss", ["-K", "dst", "127.0.0.1"]));
    client.once("close", () => process.exit(0)).on("error", () => undefined);
    setTimeout(() => { console.error("this kernel ends no connections for ss -K"); process.exit(1); }, 2000);
  });'
`;

/** @returns {string | null} why there can be no such network here; null if there can, as tried */
export function whyNoNetwork() {
  if (process.platform !== "linux") return "network namespaces need Linux";
  if (process.getuid?.() !== 0) return "network namespaces need root";
  const missing = ["ip", "ss", "nsenter", "unshare", "sysctl"].find((program) => findOnPath(program) === null);
  if (missing !== undefined) return `${missing} is not installed (apt-get install iproute2 util-linux procps)`;
  const trial = spawnSync("unshare", ["--net", "/bin/sh", "-ec", TRIAL, process.execPath], {
    encoding: "utf8",
    timeout: 10_000,
  });
  if (trial.status === 0) return null;
  const said = trial.stderr?.trim().split("\n").at(-1);
  return `no network namespace can be used here (${said || trial.error?.message || `exit code ${trial.status}`})`;
}

/**
 * @param {string[]} names
 * @returns {Promise<Network>}
 */
export async function startNetwork(names) {
  const router = await holdNamespace();
  const holders = await Promise.all(names.map(() => holdNamespace()));
  const hosts = names.map((name, i) => ({ name, address: addressOf(i), enter: enter(holders[i]?.pid) }));
  const enterRouter = enter(router.pid);
  /** @type {Link[]} */
  let isCut = [];

  await run(enterRouter, "sysctl -qw net.ipv4.ip_forward=1");
  for (const [i, host] of hosts.entries()) {
    const gateway = gatewayOf(i);
    await run(enterRouter, `ip link add host${i} type veth peer name eth0 netns ${holders[i]?.pid}`);
    await run(enterRouter, `ip addr add ${gateway}/24 dev host${i}; ip link set host${i} up`);
    await run(
      host.enter,
      `ip addr add ${host.address}/24 dev eth0; ip link set eth0 up; ip route add default via ${gateway}`,
    );
  }

  /** @param {Link[]} links @param {"add" | "del"} verb */
  const rules = (links, verb) =>
    links
      .flatMap(([a, b]) => [`from ${a.address} to ${b.address}`, `from ${b.address} to ${a.address}`])
      .map((way) => `ip rule ${verb} blackhole ${way}`)
      .join("; ");

  return {
    hosts,
    enterRouter,
    async cut(links, how) {
      isCut = [...isCut, ...links];
      await run(enterRouter, rules(links, "add"));
      if (how === "silent") return;
      const ends = links.flatMap(([a, b]) => [
        [a, b],
        [b, a],
      ]);
      await Promise.all(ends.map(([from, to]) => run(from?.enter ?? [], `ss -K dst ${to?.address} >/dev/null 2>&1`)));
    },
    async heal() {
      if (isCut.length > 0) await run(enterRouter, rules(isCut.splice(0), "del"));
    },
    end() {
      for (const { pid } of [...holders, router]) if (pid !== undefined) process.kill(-pid, "SIGKILL");
    },
  };
}

/** @param {number} i */
const addressOf = (i) => `10.99.${i + 1}.1`;
/** @param {number} i */
const gatewayOf = (i) => `10.99.${i + 1}.254`;

/** @param {number | undefined} pid */
const enter = (pid) => ["nsenter", `--net=/proc/${pid}/ns/net`, "--"];

/** @param {string[]} where @param {string} script */
function run([program = "", ...args], script) {
  return runTool(program, [...args, "/bin/sh", "-ec", script], { advice: "Network namespaces need root." });
}

/** @returns {Promise<import("node:child_process").ChildProcess>} */
async function holdNamespace() {
  const script = "ip link set lo up && echo made && exec sleep infinity";
  const holder = spawn("unshare", ["--net", "/bin/sh", "-ec", script], {
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  holdOnLeash(holder);
  await new Promise((resolve, reject) => {
    holder.stdout.once("data", resolve);
    holder.once("error", reject);
    holder.once("exit", (code) => reject(new Error(`No network namespace could be made: unshare ended with ${code}.`)));
  });
  holder.unref();
  /** @type {import("node:net").Socket} */ (holder.stdout).unref();
  return holder;
}
