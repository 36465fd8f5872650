import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { processIdentity } from "../../scripts/processes/identity.mjs";
import { endLeftover, writePidFile } from "../../scripts/processes/pid-file.mjs";
import { eventually } from "../support/eventually.ts";
import { ROOT, startProcess } from "../support/processes/processes.ts";
import { temporaryFolder } from "../support/servers/servers.ts";

let folder: string;
beforeAll(() => {
  folder = temporaryFolder("processes");
});

test("a process is awaited by its lines, and killed by the pid of node itself", async () => {
  const running = startProcess({
    file: script(
      "speaker",
      'console.log(JSON.stringify({ event: "listening", url: process.env.URL })); setInterval(() => {}, 1e6);',
    ),
    env: { URL: "here" },
  });
  expect(await running.waitForEvent("listening")).toMatchObject({ url: "here" });
  expect(processIdentity(running.pid)).not.toBeNull();
  expect(await running.kill("SIGKILL")).toEqual({ code: null, signal: "SIGKILL" });
  expect(processIdentity(running.pid)).toBeNull();
});

test("waiting for a line of a process that ends without it fails with what it wrote", async () => {
  const running = startProcess({ name: "mute", file: script("mute", 'console.error("cannot go on"); process.exit(3);') });
  await expect(running.waitForLine((line) => line === "ready")).rejects.toThrow(/mute: .*has ended.*cannot go on/s);
  expect(await running.exited).toEqual({ code: 3, signal: null });
});

test("what a program started dies with it, even when it is killed with -9", async () => {
  const parent = startProcess({
    file: script(
      "parent",
      `import { spawn } from "node:child_process";
       import { holdOnLeash } from ${JSON.stringify(join(ROOT, "scripts/processes/leash.mjs"))};
       const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
       holdOnLeash(child);
       console.log(JSON.stringify({ event: "started", pid: child.pid }));`,
    ),
  });
  const { pid } = await parent.waitForEvent("started");
  expect(processIdentity(Number(pid))).not.toBeNull();
  await parent.kill("SIGKILL");
  await eventually(() => expect(processIdentity(Number(pid))).toBeNull(), { what: "the end of the child" });
});

test("a pid file ends the process it was written for, and never another that got its pid", async () => {
  const sleeper = startProcess({ file: script("sleeper", "setInterval(() => {}, 1e6);") });
  const file = join(folder, "sleeper.pid.json");

  writeFileSync(file, JSON.stringify({ pid: sleeper.pid, identity: "another life of this pid" }));
  expect(await endLeftover(file)).toBeNull();
  expect(sleeper.exit()).toBeNull();

  writePidFile(file, sleeper.pid);
  expect(await endLeftover(file)).toBe(sleeper.pid);
  expect(await sleeper.exited).toEqual({ code: null, signal: "SIGTERM" });
});

function script(name: string, text: string): string {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, text);
  return path;
}
