import { expect, onTestFinished, test } from "vitest";
import { SlotProcess } from "../../services/observer-service/src/keeper/slots/process/slot-process.ts";
import { eventually } from "../support/eventually.ts";

/** A process in a slot's place, and what it has started in a group of its own, which holds its pipes: by the script of a shell. */
async function slotWithSurvivor(script: string) {
  const program = `
    const { spawn } = require("node:child_process");
    const child = spawn("sh", ["-c", ${JSON.stringify(script)}], { detached: true, stdio: ["ignore", "ignore", "ignore", 3, 4] });
    console.log(child.pid);
    setInterval(() => undefined, 1_000);`;
  let survivor = 0;
  let heard = 0;
  const held: number[] = [];
  const slot = new SlotProcess({
    ...{ leash: [], args: ["-e", program], env: process.env },
    onLine: (_stream, text) => void (survivor = Number(text)),
    onMessage: () => void (heard += 1),
    onAlive: () => undefined,
    onStuck: () => undefined,
    onBroken: (why) => expect.fail(why),
    onPipeHeld: () => void held.push(heard),
    onGone: () => undefined,
  });
  onTestFinished(() => {
    slot.kill();
    if (survivor > 0) process.kill(-survivor, "SIGKILL");
  });
  await eventually(() => expect(survivor).toBeGreaterThan(0));
  const isAlive = () => process.kill(survivor, 0);
  return { slot, held, isAlive, heard: () => heard };
}

const LAG = '{"kind":"lag","lagMs":1}';

test("a slot is gone soon after its end, though something that it has started holds its pipes, and what is in them is read", async () => {
  const { slot, held, isAlive, heard } = await slotWithSurvivor(
    `for i in $(seq 2000); do echo '${LAG}' >&3; done; sleep 60`,
  );
  await eventually(() => expect(heard()).toBeGreaterThan(0));
  process.kill(slot.pid, "SIGKILL");
  await slot.gone;
  expect([heard(), held, isAlive()]).toEqual([2_000, [2_000], true]);
});

test("likewise where that writes on and on", async () => {
  const { slot, held, isAlive, heard } = await slotWithSurvivor(`while sleep 0.1; do echo '${LAG}' >&3; done`);
  await eventually(() => expect(heard()).toBeGreaterThan(0));
  process.kill(slot.pid, "SIGKILL");
  await slot.gone;
  expect([held.length, isAlive()]).toEqual([1, true]);
});
