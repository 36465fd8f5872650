import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { removeLeftPolicy, withoutStartingServices } from "../../scripts/setup/service-policy.mjs";
import { ROOT } from "../support/processes/processes.ts";

let policy: string;
beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), "unacked-policy-"));
  policy = join(dir, "policy-rc.d");
  onTestFinished(() => rmSync(dir, { recursive: true }));
});

/** A set-up whose apt-get ends with what it is given to read. */
async function setUpAtWork() {
  const code = `
    import { withoutStartingServices } from ${JSON.stringify(join(ROOT, "scripts/setup/service-policy.mjs"))};
    const atWork = () => new Promise((resolve) => {
      console.log("at work");
      process.stdin.once("end", resolve).resume();
    });
    await withoutStartingServices(atWork, ${JSON.stringify(policy)});`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

test("while a package is installed Debian is told to start nothing, and no longer", async () => {
  await withoutStartingServices(async () => {
    expect(readFileSync(policy, "utf8")).toMatch(/^#!\/bin\/sh\n(#.*\n)*exit 101\n$/);
    expect(statSync(policy).mode & 0o777).toBe(0o755);
  }, policy);
  expect(existsSync(policy)).toBe(false);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "a set-up that is told to end by %s ends by it once the package is installed, and leaves nothing of that",
  async (signal) => {
    const child = await setUpAtWork();
    child.kill(signal);
    await once(child.stderr, "data");
    expect(existsSync(policy)).toBe(true); // apt-get goes on, and asks it
    child.stdin.end();
    expect(await once(child, "exit")).toEqual([null, signal]);
    expect(existsSync(policy)).toBe(false);
  },
);

test("one that is told to end twice ends at once", async () => {
  const child = await setUpAtWork();
  child.kill("SIGTERM");
  await once(child.stderr, "data");
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([null, "SIGTERM"]);
  expect(existsSync(policy)).toBe(false);
});

test("what one left that was killed is removed by the next one, and not while it lives", async () => {
  const child = await setUpAtWork();
  removeLeftPolicy(policy);
  expect(existsSync(policy)).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(existsSync(policy)).toBe(true);
  removeLeftPolicy(policy);
  expect(existsSync(policy)).toBe(false);
});

test("what somebody else has decided stays", async () => {
  const theirs = "#!/bin/sh\nexit 101\n";
  writeFileSync(policy, theirs);
  removeLeftPolicy(policy);
  await withoutStartingServices(async () => undefined, policy);
  expect(readFileSync(policy, "utf8")).toBe(theirs);
});
