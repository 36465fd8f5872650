import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { openDescriptors, SlotDescriptors } from "../../../services/observer-service/src/keeper/slots/slot-descriptors.ts";

const descriptorsOver = (pid: number, loaded: number) => new SlotDescriptors(pid).over(loaded, true);

/** A process that may have a hundred descriptors, and opens so many besides its own. */
async function processWith(count: number): Promise<number> {
  const program = `for (let i = 0; i < ${count}; i += 1) require("node:fs").openSync("/dev/null"); console.log("open"); setInterval(() => undefined, 1_000);`;
  const child = spawn("sh", ["-c", 'ulimit -n 100; exec "$0" -e "$1"', process.execPath, program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child.pid ?? 0;
}

test.runIf(process.platform === "linux")(
  "a slot may have four fifths open of what its process may, and what its files opened does not count",
  async () => {
    const few = await processWith(40);
    expect(descriptorsOver(few, 0)).toBeUndefined();
    const many = await processWith(65);
    const descriptors = openDescriptors(many);
    expect(descriptorsOver(many, 0)).toEqual({ descriptors, limitDescriptors: 80, isFar: false });
    expect(descriptorsOver(many, descriptors)).toBeUndefined();
    const all = await processWith(80);
    expect(descriptorsOver(all, 0)).toMatchObject({ limitDescriptors: 80, isFar: true });
  },
);

test.runIf(process.platform === "linux")(
  "where each is to be counted, few are seldom: a slot that had less than half is not looked at but in a full look",
  async () => {
    const pid = await processWith(65);
    const open = openDescriptors(pid);
    const [counted, told] = [true, false].map((isCounted) => new SlotDescriptors(pid, isCounted)) as [
      SlotDescriptors,
      SlotDescriptors,
    ];
    for (const one of [counted, told]) expect(one.over(3 * open, false)).toBeUndefined();
    expect([counted.over(0, false), told.over(0, false)]).toEqual([undefined, expect.anything()]);
    expect(counted.over(0, true)).toBeDefined();
    expect(counted.over(0, false)).toBeDefined();
  },
);

test("of a process that is not there it cannot be told", () => {
  expect(descriptorsOver(2 ** 30, 0)).toBeUndefined();
});
