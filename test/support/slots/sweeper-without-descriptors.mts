import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { GroupSweeper } from "../../../services/observer-service/src/keeper/slots/process/group-sweeper.ts";

/* The shell of the sweeper is ended while this process may open nothing more. Says how it ends. */

const shells = (): number[] =>
  execFileSync("ps", ["-o", "pid=,comm=", "--ppid", String(process.pid)], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => (line.trim().endsWith(" sh") ? [Number.parseInt(line, 10)] : []));

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(50);
}

void new GroupSweeper();
await until(() => shells().length === 1);
const [shell] = shells();
const descriptors: number[] = [];
try {
  for (;;) descriptors.push(openSync("/dev/null", "r"));
} catch (error) {
  console.log((error as NodeJS.ErrnoException).code);
}
process.kill(shell as number, "SIGKILL");
await sleep(1_500); // another one is tried for after a second
for (const descriptor of descriptors) closeSync(descriptor);
await until(() => shells().some((one) => one !== shell));
console.log("another one");
process.exit(0);
