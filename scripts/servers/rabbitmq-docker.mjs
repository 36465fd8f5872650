import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { holdOnLeash } from "../processes/leash.mjs";
import { addresses } from "./rabbitmq-node.mjs";
import { waitUntilReady } from "./server-process.mjs";

const IMAGE = "rabbitmq:4-management";
const docker = promisify(execFile);

/**
 * The same private node as a container, for machines that have an engine and no RabbitMQ. The data stays in our folder,
 * so the container itself is thrown away at every end.
 *
 * @param {string} dir
 * @param {import("./rabbitmq-node.mjs").NodeSettings} settings
 * @param {(name: string, logFile: string) => { name: string, logFiles: string[], timeoutMs: number, isReady: () => Promise<boolean> }} readiness
 * @returns {import("./rabbitmq.mjs").Rabbitmq}
 */
export function containerOf(dir, settings, readiness) {
  const container = settings.nodeName.replace("@localhost", "");
  let pid = -1;
  /** @type {string | null} */
  let outcome = "never started";
  /** @type {Promise<string>} */
  let exited = Promise.resolve(outcome);

  async function start() {
    await docker("docker", ["rm", "--force", container]).catch(() => undefined); // a leftover, which mostly is not there
    const data = join(dir, "data");
    mkdirSync(data, { recursive: true });
    await docker("docker", [
      "run",
      "--detach",
      "--rm",
      ...asOwnerOf(data),
      "--name",
      container,
      "--hostname",
      "localhost",
      "--publish",
      `127.0.0.1:${settings.port}:5672`,
      "--publish",
      `127.0.0.1:${settings.managementPort}:15672`,
      "--volume",
      `${data}:/var/lib/rabbitmq`,
      "--env",
      `RABBITMQ_NODENAME=${settings.nodeName}`,
      "--volume",
      `${join(dir, "rabbitmq.conf")}:/etc/rabbitmq/conf.d/20-unacked.conf:ro`,
      "--volume",
      `${join(dir, "enabled_plugins")}:/etc/rabbitmq/enabled_plugins:ro`,
      IMAGE,
    ]);
    pid = Number((await docker("docker", ["inspect", "--format", "{{.State.Pid}}", container])).stdout);
    outcome = null;
    const watch = spawn("docker", ["wait", container], { detached: true, stdio: "ignore" });
    holdOnLeash(watch);
    const letGo = endWithUs(container);
    exited = new Promise((resolve) => {
      watch.once("error", (error) => resolve((outcome = error.message)));
      watch.once("exit", (code) => {
        if (code === 0) letGo(); // killed, to hurry, it tells nothing of the container
        resolve((outcome = "the container ended"));
      });
    });
    await waitUntilReady(
      { pid, exited, outcome: () => outcome },
      readiness("RabbitMQ in Docker", join(dir, "container.log")),
    );
  }

  /** @param {string[]} command */
  async function end(command) {
    if (outcome !== null) return;
    await docker("docker", [...command, container]).catch(() => undefined); // gone in this moment
    await exited;
  }

  return {
    ...addresses(settings),
    port: settings.port,
    get pid() {
      return pid;
    },
    get exited() {
      return exited;
    },
    start,
    stop: () => end(["stop", "--time", "20"]),
    kill: () => end(["kill"]),
  };
}

/**
 * It runs as who owns its data. Begun as root, as it is otherwise, the image gives the folder to its own user (`chown` in its
 * docker-entrypoint.sh), and then we could neither open it for a second start nor empty it. Where the engine is in a virtual machine,
 * files are ours whoever writes them.
 *
 * @param {string} data
 */
function asOwnerOf(data) {
  const { uid, gid } = statSync(data);
  const isOurs = [0, uid].includes(process.getuid?.() ?? uid);
  if (isOurs) chmodSync(data, 0o777); // an engine without root calls us by another number
  return process.platform === "linux" ? ["--user", `${uid}:${gid}`] : [];
}

/**
 * Kills the container when we are gone, whatever the cause: the kernel closes our end of its pipe then. Not on the leash, which would end
 * it first. Not at the container's own end either, as that of the next start has the same name.
 *
 * @param {string} container
 * @returns {() => void} leaves it alone
 */
function endWithUs(container) {
  const guard = spawn("/bin/sh", ["-c", 'read -r _; docker kill "$0"', container], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.unref();
  /** @type {import("node:net").Socket} */ (guard.stdin).unref();
  for (const each of [guard, guard.stdin]) each.on("error", () => undefined); // the next start removes what is left
  return () => void guard.kill("SIGKILL");
}
