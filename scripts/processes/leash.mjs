import { spawn } from "node:child_process";

/**
 * What this process starts must not outlive it, not even when it is killed with -9 and no code of it runs any more.
 * So a small shell holds the other end of a pipe: the kernel closes our end when we die, whatever the cause, and the
 * shell then kills every process it was told to hold. SIGKILL is right here: all that we start survives it without loss.
 *
 * The shell sits in a session of its own, since a Ctrl-C in a terminal goes to the whole process group.
 */
const LEASH = `
held=""
while read -r verb pid; do
  rest=""
  for one in $held; do [ "$one" = "$pid" ] || rest="$rest $one"; done
  held="$rest"
  [ "$verb" = hold ] && held="$held $pid"
done
for pid in $held; do kill -9 "-$pid" 2>/dev/null || kill -9 "$pid" 2>/dev/null; done
`;

/** @type {import("node:child_process").ChildProcess | undefined} */
let leash;
/** @type {Set<number>} */
const held = new Set();

/**
 * Holds a child until it exits. Children should be started `detached`, as leaders of their own process group: the
 * whole group then goes with them.
 *
 * @param {import("node:child_process").ChildProcess} child
 */
export function holdOnLeash(child) {
  const { pid } = child;
  if (pid === undefined) return; // it could not be started; its 'error' event says why
  held.add(pid);
  tell(`hold ${pid}`);
  child.once("exit", () => {
    held.delete(pid);
    tell(`free ${pid}`);
  });
}

/** Kills everything held, at once: for the second Ctrl-C. */
export function killHeld() {
  for (const pid of held) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // gone in this very moment, which is what was wanted
    }
  }
}

/** @param {string} line */
function tell(line) {
  leash ??= startLeash();
  leash.stdin?.write(`${line}\n`);
}

function startLeash() {
  const shell = spawn("/bin/sh", ["-c", LEASH], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  // Neither the shell nor the pipe to it may keep this process alive.
  shell.unref();
  /** @type {import("node:net").Socket} */ (shell.stdin).unref();
  shell.on("error", reportLost);
  shell.stdin.on("error", reportLost);
  return shell;
}

/** @param {Error} error */
function reportLost(error) {
  console.error(
    `The watchdog of the started processes is gone (${error.message}). If this program is killed with -9, they stay behind.`,
  );
}
