import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/**
 * The installed RabbitMQ, as paths to run directly.
 *
 * @typedef {{ server: string, epmd: string }} RabbitmqProgram
 */

/**
 * Finds RabbitMQ's own start script and Erlang's port mapper. Not the wrapper that distributions put on the PATH: that
 * one switches to the user of the system-wide broker, and this must run as whoever we are.
 *
 * @returns {RabbitmqProgram | null} null when RabbitMQ is not installed.
 */
export function findRabbitmq() {
  const onPath = findOnPath("rabbitmq-server");
  const folders = ["/usr/lib/rabbitmq/bin", ...(onPath === null ? [] : [dirname(realpathSync(onPath))])];
  const folder = folders.find((each) => existsSync(join(each, "rabbitmq-server")) && existsSync(join(each, "rabbitmq-env")));
  const erlang = findOnPath("erl");
  if (folder === undefined || erlang === null) return null;
  const besideErlang = join(dirname(realpathSync(erlang)), "epmd");
  const epmd = existsSync(besideErlang) ? besideErlang : findOnPath("epmd");
  return epmd === null ? null : { server: join(folder, "rabbitmq-server"), epmd };
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
