import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PlainError, say } from "../progress.mjs";
import { freePort } from "../servers/free-port.mjs";
import { PRIVATE_MOUNTS } from "../servers/other-root.mjs";
import { runTool } from "../setup/run-tool.mjs";
import { programOf } from "../start/program.mjs";
import { configOf } from "./buildah.mjs";

/** As an engine runs an image with a read-only root: its command, its user, its environment, nothing of ours but the network. */

const ENTER = `
root=$1; user=$2; dir=$3; shift 3
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
exec chroot --userspec="$user" "$root" /bin/sh -ec 'cd "$0"; exec "$@"' "$dir" "$@"`;
const TRY_TO_WRITE =
  "try { require('fs').writeFileSync('/app/x', '') } catch (error) { process.exit(error.code === 'EROFS' ? 0 : 1) } process.exit(1)";

/**
 * @typedef {Awaited<ReturnType<typeof imageProgram>>} ImageProgram
 * @param {{ name: string, dir: string, tag: string, files: string, settings: Record<string, string>, command?: string[] }} what
 *   `dir` for its log; `files`: the image's, as a folder; `command`: another than the image's own
 */
export async function imageProgram({ name, dir, tag, files, settings, command }) {
  const config = await configOf(tag);
  const env = environmentInImage(config, { ...settings, PORT: String(await freePort()) });
  const program = programOf({
    name,
    command: commandInImage(files, config, command),
    env,
    cwd: "/",
    logFile: join(dir, `${name}.log`),
    pidFile: join(dir, `${name}.pid.json`),
    readyPath: "/readyz",
  });
  const run = (/** @type {string[]} */ words, /** @type {string} */ advice) => {
    const [unshare = "", ...rest] = commandInImage(files, config, words);
    return runTool(unshare, rest, { env, advice });
  };

  return {
    program,
    async tryHealthCheck() {
      const [kind, ...check] = config.Healthcheck?.Test ?? [];
      if (kind !== "CMD") throw new PlainError(`${name} has no health check that needs no shell`);
      await run(check, "The health check of a program that is ready should pass.");
      say(`${name}: health check passes`);
    },
    async tryConfinement() {
      const uid = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1];
      if (uid !== "1000") throw new PlainError(`${name} runs as user ${uid}, not as 1000`);
      await run(["node", "-e", TRY_TO_WRITE], "The disk should not be writable.");
      say(`${name}: user ${uid}, disk is read-only`);
    },
    async tryEnd() {
      const ended = program.exited;
      const askedAt = performance.now();
      await program.stop();
      const outcome = await ended;
      if (outcome !== "exit code 0") throw new PlainError(`${name} ended by SIGTERM with ${outcome}`);
      say(`${name}: SIGTERM, exit code 0 after ${Math.round(performance.now() - askedAt)} ms`);
    },
  };
}

/**
 * @param {string} folder the image's files
 * @param {import("./buildah.mjs").ImageConfig} config
 * @param {string[]} [command] the image's own if missing
 */
function commandInImage(folder, config, command = config.Cmd) {
  const user = `${config.User}:${config.User}`;
  return [...PRIVATE_MOUNTS, "/bin/sh", "-ec", ENTER, "enter", folder, user, config.WorkingDir, ...command];
}

/**
 * @param {import("./buildah.mjs").ImageConfig} config
 * @param {Record<string, string>} settings
 */
function environmentInImage(config, settings) {
  const own = config.Env.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  return { ...Object.fromEntries(own), ...settings };
}
