import { execFile, spawn } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
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
    chmodSync(data, 0o777); // the image's user is none of ours
    await docker("docker", [
      "run",
      "--detach",
      "--rm",
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
    // Ends when the container ends, and ends the container when it is itself cut off from us.
    const watch = spawn("/bin/sh", ["-c", `docker wait "$0"; docker kill "$0" 2>/dev/null`, container], {
      detached: true,
      stdio: "ignore",
    });
    holdOnLeash(watch);
    exited = new Promise((resolve) => watch.once("exit", () => resolve((outcome = "the container ended"))));
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
