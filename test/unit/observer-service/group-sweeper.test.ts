import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../support/processes/processes.ts";

test("Where the sweeper's shell is ended while file descriptors have run out, the service lives, and another one comes", () => {
  const file = join(ROOT, "test/support/slots/sweeper-without-descriptors.mts");
  const { status, stdout, stderr } = spawnSync("bash", ["-c", `ulimit -n 128; exec node --import tsx ${file}`], {
    encoding: "utf8",
    cwd: ROOT,
    timeout: 60_000,
  });
  expect(stderr).toBe("");
  expect([status, stdout.trim().split("\n")]).toEqual([0, ["EMFILE", "another one"]]);
});
