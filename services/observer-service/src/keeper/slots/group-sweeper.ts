import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

const START_AGAIN_MS = 1_000;

/** Reads `+ GROUP` and `- GROUP`; at the end, which is the keeper's, it ends what is left of these groups. */
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
 * Ends what slots have started when the keeper has died. Where the kernel ends a slot in that moment (`deathLeash`), it ends the slot
 * alone, and its watchdog with it; what its handlers have started (a shell of `execSync`) would act on. A shell in a session of its
 * own holds the end of a pipe whose other end only the keeper has.
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

  /** It has been reaped, and its group ended. */
  forget(group: number): void {
    this.#groups.delete(group);
    this.#tell(`- ${group}\n`);
  }

  #tell(line: string): void {
    if (this.#shell?.stdin?.writable) this.#shell.stdin.write(line);
  }

  #start(): void {
    const shell = spawn("sh", ["-c", SCRIPT], { detached: true, env: {}, stdio: ["pipe", "ignore", "ignore"] });
    this.#shell = shell;
    shell.stdin.on("error", () => undefined); // its exit tells
    shell.once("error", () => undefined); // there is no shell: what slots have started is not ended with a keeper that is killed
    // Somebody has ended it: another one takes its place.
    shell.once("exit", () => setTimeout(() => this.#start(), START_AGAIN_MS).unref());
    shell.unref();
    (shell.stdin as unknown as Socket).unref();
    for (const group of this.#groups) this.#tell(`+ ${group}\n`);
  }
}
