import childProcess, { spawnSync } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { GroupSweeper } from "../../../services/observer-service/src/keeper/slots/process/group-sweeper.ts";
import { ROOT } from "../../support/processes/processes.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test("A shell for which there is no memory, as Node throws that, is tried for again a second later", () => {
  vi.useFakeTimers();
  const spawned = vi.spyOn(childProcess, "spawn");
  syncBuiltinESMExports(); // for who has imported it by name
  spawned.mockImplementationOnce(() => {
    throw Object.assign(new Error("spawn ENOMEM"), { code: "ENOMEM" });
  });
  spawned.mockReturnValueOnce({ once: () => undefined, unref: () => undefined } as never);
  void new GroupSweeper();
  expect(spawned).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1_000);
  expect(spawned).toHaveBeenCalledTimes(2);
});

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
