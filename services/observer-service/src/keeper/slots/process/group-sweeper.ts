import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

const START_AGAIN_MS = 1_000;

/**
 * The script reads `+ GROUP` and `- GROUP`. At the end of its input, which is the keeper's end, it ends what is left of
 * these groups.
 */
const SCRIPT = `
trap '' INT TERM HUP
groups=
while read -r sign group; do
  kept=
  for one in $groups; do [ "$one" = "$group" ] || kept="$kept $one"; done
  groups=$kept
  [ "$sign" = - ] || groups="$groups $group"
done
for one in $groups; do kill -s KILL -- "-$one"; done
`;

/**
 * Ends what slots have started when the keeper has died. If the kernel ends a slot in that moment (`deathLeash`), it ends only the
 * slot, and its watchdog with it: what its handlers have started (a shell of `execSync`) would go on. A shell in a session of its own
 * holds the end of a pipe whose other end only the keeper has.
 */
export class GroupSweeper {
  readonly #groups = new Set<number>();
  #shell: ChildProcess | undefined;

  constructor() {
    this.#start();
  }

  watch(group: number): void {
    this.#groups.add(group);
    this.#tell(`+ ${group}\n`);
  }

  /** The slot has been reaped, and its group ended. */
  forget(group: number): void {
    this.#groups.delete(group);
    this.#tell(`- ${group}\n`);
  }

  #tell(line: string): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(line);
  }

  #start(): void {
    const startAgain = () => void setTimeout(() => this.#start(), START_AGAIN_MS).unref();
    let shell: ChildProcess;
    try {
      shell = spawn("sh", ["-c", SCRIPT], { detached: true, env: {}, stdio: ["pipe", "ignore", "ignore"] });
    } catch {
      return startAgain(); // Node throws if there is no memory
    }
    this.#shell = shell;
    // Somebody has ended the shell, so another one takes its place. Or it could not be started: until one can, what slots
    // have started outlives a keeper that is killed.
    for (const end of ["exit", "error"]) shell.once(end, startAgain);
    shell.unref();
    const stdin = shell.stdin as Socket | null | undefined;
    if (!stdin) return; // without file descriptors Node has made no pipe
    stdin.on("error", () => undefined); // the shell's exit reports it
    stdin.unref();
    for (const group of this.#groups) this.#tell(`+ ${group}\n`);
  }
}
