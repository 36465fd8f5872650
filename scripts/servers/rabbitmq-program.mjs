import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { commandInRoot } from "./other-root.mjs";

/**
 * RabbitMQ as it can be run here.
 *
 * @typedef {object} RabbitmqProgram
 * @property {string} server paths to run directly
 * @property {string} ctl
 * @property {string} epmd
 * @property {(dir: string, command: string[]) => string[]} command the whole command line; `dir` is the node's folder
 */

/**
 * Finds RabbitMQ's own start script and Erlang's port mapper. Not the wrapper that distributions put on the PATH: that
 * one switches to the user of the system-wide broker, and this must run as our own user. `RABBITMQ_ROOT` names a folder
 * with another Debian whose RabbitMQ is meant instead (scripts/rabbitmq-suite.mjs makes one).
 *
 * @returns {RabbitmqProgram | null} null when RabbitMQ is not installed.
 */
export function findRabbitmq() {
  const root = process.env.RABBITMQ_ROOT;
  if (root !== undefined) return rabbitmqOfDebian(resolve(root));
  const onPath = findOnPath("rabbitmq-server");
  const folders = ["/usr/lib/rabbitmq/bin", ...(onPath === null ? [] : [dirname(realpathSync(onPath))])];
  const folder = folders.find((each) => existsSync(join(each, "rabbitmq-server")) && existsSync(join(each, "rabbitmq-env")));
  const erlang = findOnPath("erl");
  if (folder === undefined || erlang === null) return null;
  const besideErlang = join(dirname(realpathSync(erlang)), "epmd");
  const epmd = existsSync(besideErlang) ? besideErlang : findOnPath("epmd");
  if (epmd === null) return null;
  const programs = { server: join(folder, "rabbitmq-server"), ctl: join(folder, "rabbitmqctl"), epmd };
  return { ...programs, command: (_, command) => command };
}

/**
 * @param {string} root a folder with another Debian
 * @returns {RabbitmqProgram}
 */
export function rabbitmqOfDebian(root) {
  const folder = "/usr/lib/rabbitmq/bin";
  if (!existsSync(join(root, folder, "rabbitmq-server")))
    throw new Error(`RABBITMQ_ROOT is ${root}, and there is no RabbitMQ in it.`);
  const programs = { server: join(folder, "rabbitmq-server"), ctl: join(folder, "rabbitmqctl"), epmd: "/usr/bin/epmd" };
  return { ...programs, command: (dir, command) => commandInRoot(root, dir, command) };
}

/**
 * Whether a Docker engine answers; the client alone does not help.
 *
 * @returns {Promise<boolean>}
 */
export function dockerAnswers() {
  return new Promise((resolve) => {
    execFile("docker", ["version", "--format", "{{.Server.Version}}"], { timeout: 10_000 }, (error) =>
      resolve(error === null),
    );
  });
}

/**
 * @param {string} name
 * @returns {string | null}
 */
export function findOnPath(name) {
  // Homebrew and Debian put servers into sbin, which is not on every user's PATH.
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"];
  for (const folder of folders) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // not in this folder
    }
  }
  return null;
}
