import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { descriptorsOver, openDescriptors } from "../../../services/observer-service/src/keeper/slots/slot-descriptors.ts";

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

test("of a process that is not there it cannot be told", () => {
  expect(descriptorsOver(2 ** 30, 0)).toBeUndefined();
});
