import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { takeLock } from "./processes/lock.mjs";
import { stopOnSignals } from "./processes/stop-signals.mjs";
import { complain, PlainError, say } from "./progress.mjs";
import { whyPortIsTaken } from "./servers/free-port.mjs";
import { setUp } from "./setup/set-up.mjs";
import { launchOf } from "./start/launch.mjs";
import { endLeftovers } from "./start/leftovers.mjs";
import { HELP, OptionError, parseStartOptions } from "./start/options.mjs";

/**
 * `npm start`: the main job on one machine. Whatever happens, nothing it started stays behind: in order at Ctrl-C, SIGTERM
 * and a failed start, by the watchdog (see processes/leash.mjs) when it is killed itself.
 */

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const dataDir = join(root, ".unacked");

/** @param {string[]} args */
async function main(args) {
  const options = parseStartOptions(args);
  if (options === "help") return say(HELP);
  options.recording = whereTyped(options.recording, "recording");
  options.observers = whereTyped(options.observers, "folder");
  // Before the port, which it has taken itself, and before anything is built under what runs.
  const lock = takeLock(join(dataDir, "run", "start.lock"));
  if ("ownerPid" in lock) {
    throw new PlainError(
      `Unacked runs in this folder already (process ${lock.ownerPid}). Stop it with: kill ${lock.ownerPid}`,
    );
  }
  try {
    await checkPort(options.port);
    await setUp(root);
    await runUntilStopped(options);
  } finally {
    lock.release();
  }
  say("Stopped.");
}

/** @param {import("./start/options.mjs").StartOptions} options */
async function runUntilStopped(options) {
  const stopping = new AbortController();
  const launch = launchOf({ root, dataDir, options, signal: stopping.signal });
  const stopped = new Promise((resolveStopped) => stopping.signal.addEventListener("abort", resolveStopped));
  stopOnSignals(stopping, {
    onFirst: () => say("\nStopping everything; once more to hurry."),
    onAgain: () => say("Killing what is left."),
  });
  stopWithNpm(stopping);
  // A terminal that was closed takes no more lines; that must not keep us from stopping in order.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  try {
    await endLeftovers(dataDir);
    await launch.run();
    await stopped;
  } catch (error) {
    if (!stopping.signal.aborted) throw error; // else it is only the start that was cut short
  } finally {
    stopping.abort();
    await launch.stop();
  }
}

/** @param {number} port */
async function checkPort(port) {
  const taken = port === 0 ? null : await whyPortIsTaken(port);
  if (taken === "EACCES") throw new PlainError(`Port ${port} needs root. Choose one from 1024 on: npm start -- --port 8080`);
  if (taken !== null) {
    throw new PlainError(
      `Port ${port} on 127.0.0.1 is in use. Choose another: npm start -- --port ${port + 1}, or --port 0 for any free one.`,
    );
  }
}

/**
 * npm runs us in the project's folder; the path was typed in another, perhaps.
 *
 * @param {string | null} path
 * @param {string} what
 */
function whereTyped(path, what) {
  if (path === null) return null;
  const whole = resolve(process.env.INIT_CWD ?? process.cwd(), path);
  if (!existsSync(whole)) throw new PlainError(`There is no ${what} ${whole}`);
  return whole;
}

/**
 * npm passes SIGTERM on to us (package.json says `exec`, or it would reach a shell only), but nobody can pass on the
 * SIGKILL of npm itself. If npm was ended, this is to end, too.
 *
 * @param {AbortController} stopping
 */
function stopWithNpm(stopping) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(watch);
    stopping.abort();
  }, 1_000);
  watch.unref();
}

try {
  await main(process.argv.slice(2));
  process.exit(0);
} catch (error) {
  const isPlain = error instanceof PlainError || error instanceof OptionError;
  complain(isPlain ? error.message : String(/** @type {Error} */ (error)?.stack ?? error));
  process.exit(error instanceof OptionError ? 2 : 1);
}
