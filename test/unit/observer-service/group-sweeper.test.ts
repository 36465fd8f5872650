import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { GroupSweeper } from "../../../services/observer-service/src/keeper/slots/process/group-sweeper.ts";
import { ROOT } from "../../support/processes/processes.ts";

vi.mock("node:child_process", async (original) => {
  const real = await original<typeof import("node:child_process")>();
  return { ...real, spawn: vi.fn(real.spawn) };
});

test("A shell for which there is no memory, as Node throws that, is tried for again a second later", () => {
  vi.useFakeTimers();
  const tried = vi.mocked(spawn);
  tried.mockImplementationOnce(() => {
    throw Object.assign(new Error("spawn ENOMEM"), { code: "ENOMEM" });
  });
  tried.mockReturnValueOnce({ once: () => undefined, unref: () => undefined } as unknown as ChildProcess);
  void new GroupSweeper();
  expect(tried).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1_000);
  expect(tried).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
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
