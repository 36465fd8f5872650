import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";

/** A keeper with one slot and a spare. All file descriptors are taken; its slot is killed; they are given back, and it says which slots it has. */
const dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
const nothing = {
  types: [],
  unannounced: [],
  unknownFields: [],
  notOffered: [],
  tasks: [],
  broken: [],
  isolation: [],
  code: [],
};
writeFileSync(join(dir, "folder.json"), JSON.stringify(nothing));
let said = "";
const handlers = new SlotHandlers(
  {
    ...{ count: 1, max: 3, memoryBytes: 2 ** 40, dir, stuckMs: 0, stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
    ...{ args: [join(import.meta.dirname, "bare-slot.mjs")], env: process.env, logLevel: "info" },
    permissions: {} as never,
    service: { serviceId: "s", serviceName: "s", pool: "default", version: "0" },
  },
  pino(
    {},
    {
      write: (line) => {
        said += line;
        process.stdout.write(line);
      },
    },
  ),
);
const purposes = (): string =>
  handlers
    .slots()
    .map(({ purpose }) => purpose)
    .toSorted()
    .join(" ");
async function until(wanted: string): Promise<void> {
  while (purposes() !== wanted) await sleep(10);
}

await handlers.open();
await until("shared spare");
const [shared] = handlers.slots();
const taken: number[] = [];
try {
  for (;;) taken.push(openSync("/dev/null", "r"));
} catch {
  process.kill(shared?.pid ?? 0, "SIGKILL");
}
while (!said.includes("slot-not-started")) await sleep(10);
for (const one of taken) closeSync(one);
await until("shared spare");
await handlers.close(0);
rmSync(dir, { recursive: true });
process.stdout.write(`shared spare\n`);
process.exit(0);
