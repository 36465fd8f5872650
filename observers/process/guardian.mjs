// @ts-check
/**
 * The small parent between a service and a command, run as `node guardian.mjs`. It starts the command in a process group
 * of its own and kills that group as soon as the service is gone: a pipe from the service closes with it, even by kill -9,
 * and a service that is frozen no longer sends its signs of life.
 *
 * A plain file on Node built-ins, so that it runs as it is, next to the sources and next to the built files.
 *
 * - fd 0, JSON lines from the service: first the spec `{ command, args, env, cwd, stopTimeoutMs, silenceTimeoutMs, folder, hasInput }`, then
 *   `{ "do": "alive" }` again and again, and at last `{ "do": "stop" }` or `{ "do": "kill" }`
 * - fd 1 and 2: the command's own, handed through
 * - fd 4, with `hasInput`: the command's standard input, handed through
 * - fd 3, JSON lines to the service: `started { pid }` or `not-started { message }`, then `exited { code, signal }`
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

/**
 * @typedef {object} Spec
 * @property {string} command
 * @property {string[]} args
 * @property {Record<string, string>} env
 * @property {string} [cwd]
 * @property {number} stopTimeoutMs
 * @property {number} silenceTimeoutMs
 * @property {string} [folder]
 * @property {boolean} hasInput
 */

const groupCheckMs = 20;

// Only the service decides when this ends. (SIGKILL does too: then the service sees it and kills the group.)
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(signal, () => {});

/** @type {Spec | undefined} */
let spec;
/** Process group of the command, once it runs. @type {number | undefined} */
let groupId;
/** @type {NodeJS.Timeout | undefined} */
let silence;
let stopping = false;

const orders = createInterface({ input: process.stdin });
orders.on("close", killAndLeave);
process.stdin.on("error", killAndLeave);
orders.on("line", (line) => {
  const order = JSON.parse(line);
  if (spec === undefined) {
    spec = /** @type {Spec} */ (order);
    start(spec);
  }
  silence?.refresh();
  if (order.do === "stop") stop(spec.stopTimeoutMs);
  if (order.do === "kill") signalGroup("SIGKILL");
});

/** @param {Spec} from */
function start({ command, args, env, cwd, stopTimeoutMs, silenceTimeoutMs, hasInput }) {
  silence = setTimeout(killAndLeave, silenceTimeoutMs);
  const child = spawnOrReport(() =>
    spawn(command, args, { env, cwd, detached: true, stdio: [hasInput ? 4 : "ignore", "inherit", "inherit"] }),
  );
  if (child === undefined) return;
  groupId = child.pid;
  // At once, before anything that the command does is seen: where this is killed, the service kills the group that it was told of.
  if (groupId !== undefined) report({ event: "started", pid: groupId });
  child.on("error", (error) => {
    if (groupId === undefined) reportNotStarted(error);
  });
  child.on("exit", (code, signal) => {
    // The command's own children get the same stop, so that nothing of the run is left when it is reported as over.
    stop(stopTimeoutMs);
    whenGroupIsGone(() => {
      report({ event: "exited", code, signal });
      process.exit(0);
    });
  });
}

/**
 * Some failures to start are thrown (arguments too long), others come as an event (no such file).
 * @template T
 * @param {() => T} start
 */
function spawnOrReport(start) {
  try {
    return start();
  } catch (error) {
    reportNotStarted(error);
    return undefined;
  }
}

/** @param {unknown} error */
function reportNotStarted(error) {
  const message = error instanceof Error ? error.message : String(error);
  report({ event: "not-started", message });
  process.exit(0);
}

/** @param {number} stopTimeoutMs */
function stop(stopTimeoutMs) {
  if (stopping) return;
  stopping = true;
  signalGroup("SIGTERM");
  setTimeout(() => signalGroup("SIGKILL"), stopTimeoutMs);
}

/** @param {() => void} then */
function whenGroupIsGone(then) {
  if (!groupIsAlive()) return then();
  setTimeout(() => whenGroupIsGone(then), groupCheckMs);
}

/**
 * Whether anybody in the group still runs. The dead that nobody has collected count as members for kill(2); in a container
 * whose first process does not collect them they stay for ever, so Linux is asked for their state.
 */
function groupIsAlive() {
  if (!signalGroup(0)) return false;
  if (process.platform !== "linux") return true;
  return readdirSync("/proc").some((entry) => /^\d+$/.test(entry) && isLivingMember(entry));
}

/** @param {string} pid */
function isLivingMember(pid) {
  try {
    // "pid (name) state parent group …"; the name may hold anything, a closing bracket too.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(group) === groupId && state !== "Z" && state !== "X";
  } catch {
    return false; // it ended while we looked
  }
}

/**
 * Whether there was a group to signal.
 * @param {NodeJS.Signals | 0} signal
 */
function signalGroup(signal) {
  if (groupId === undefined) return false;
  try {
    process.kill(-groupId, signal);
    return true;
  } catch {
    return false; // ESRCH: nobody is left in it
  }
}

function killAndLeave() {
  signalGroup("SIGKILL");
  if (spec?.folder !== undefined) rmSync(spec.folder, { recursive: true, force: true });
  process.exit(1);
}

/** Written when it returns; the few lines of a run always fit into the pipe. @param {object} event */
function report(event) {
  try {
    writeSync(3, `${JSON.stringify(event)}\n`);
  } catch {
    killAndLeave(); // the service is gone
  }
}
