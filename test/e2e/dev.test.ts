import { type ChildProcessByStdio, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EXIT_CODES } from "../../cli/src/failure.ts";
import { holdOnLeash } from "../../scripts/processes/leash.mjs";
import { eventually } from "../support/eventually.ts";
import { childrenOf, isAlive } from "../support/processes/process-tree.ts";
import { CLI_FILE } from "../support/processes/unacked-cli.ts";
import { temporaryFolder } from "../support/servers/servers.ts";

const clock = (version: number) => `
import { defineObserver, sleep } from "@unacked/sdk";
import { z } from "zod";
export default defineObserver({
  type: "clock",
  params: z.object({}),
  async run({ signal, log }) {
    do log.info("tick of version ${version}");
    while (await sleep(100, signal));
  },
});
`;
const broken = (version: number) => clock(version).replace("signal, log }) {", "signal, log ) {");

describe("unacked dev, on a folder of its own", { timeout: 480_000 }, () => {
  const project = temporaryFolder("project");
  const lines: string[] = [];
  let dev: ChildProcessByStdio<Writable, Readable, Readable>;
  let exit: Promise<number | null>;
  let url = "";

  const save = (text: string) => writeFileSync(join(project, "src", "observers", "clock.ts"), text);
  /** A line from now on. */
  const nextLine = (part: string) => {
    const from = lines.length;
    return eventually(() => expect(lines.slice(from).join("\n")).toContain(part), { timeoutMs: 120_000, what: part });
  };

  function start(): void {
    dev = spawn(process.execPath, [CLI_FILE, "dev", "--port", "0"], {
      cwd: project,
      env: { ...process.env, NO_COLOR: "1", AMQP_URL: "", DATABASE_URL: "" }, // empty counts as not given
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    holdOnLeash(dev);
    exit = new Promise((resolve) => dev.once("exit", resolve));
    for (const output of [dev.stdout, dev.stderr]) createInterface({ input: output }).on("line", (line) => lines.push(line));
  }

  beforeAll(async () => {
    mkdirSync(join(project, "src", "observers"), { recursive: true });
    save(broken(1));
    start();
    await nextLine("The service starts again when a file is saved.");
    url = /Unacked runs: (\S+)/.exec(lines.join("\n"))?.[1] ?? "";
  }, 240_000);
  afterAll(() => {
    if (dev.exitCode === null) console.error(`unacked dev wrote last:\n  ${lines.slice(-30).join("\n  ")}`);
    dev.kill("SIGKILL");
  });

  it("shows why nothing loads, and starts the service once it does", async () => {
    expect(lines.join("\n")).toMatch(/clock\.ts:7:\d+/);
    expect(lines.join("\n")).toContain("async run({ signal, log ) {");
    expect(lines.join("\n")).not.toContain("The service runs.");
    save(clock(1));
    await nextLine("The service runs.");
    await eventually(async () => expect(await (await fetch(`${url}/api/v1/types`)).text()).toContain('"clock"'), {
      timeoutMs: 120_000,
    });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ name: "big-ben", type: "clock", whenFull: "queue" });
    await eventually(async () =>
      expect((await fetch(`${url}/api/v1/observers`, { method: "POST", headers, body })).status).toBe(201),
    );
    await nextLine("clock/big-ben | tick of version 1");
  });

  it("has a running observer go over when its file is saved, and keeps the old code where that is wrong", async () => {
    save(clock(2));
    await nextLine("tick of version 2");
    save(broken(3));
    await nextLine("the old code stays in use");
    await nextLine("tick of version 2");
    save(clock(4));
    await nextLine("tick of version 4");
  });

  it("so it does when what it imports from beside the folder is saved", async () => {
    const saveBeside = (version: number) =>
      writeFileSync(join(project, "shared", "version.ts"), `export const version: string = "${version}, of beside";`);
    mkdirSync(join(project, "shared"));
    saveBeside(5);
    const text = clock(4).replace('version 4"', 'version " + version');
    save(`import { version } from "../../shared/version.ts";\n${text}`);
    await nextLine("tick of version 5, of beside");
    saveBeside(6);
    await nextLine("tick of version 6, of beside");
    save(clock(4));
    await nextLine("tick of version 4");
  });

  it("restarts the service at r, and ends all that it has started at q", async () => {
    dev.stdin.write("r");
    await nextLine("Restarting the service.");
    await nextLine("tick of version 4");
    const started = descendantsOf(dev.pid ?? 0);
    expect(started.length).toBeGreaterThan(4);
    dev.stdin.write("q");
    expect(await exit).toBe(0);
    const left = () => started.filter(isAlive);
    await eventually(() => expect(left()).toEqual([]), { timeoutMs: 30_000 });
  });

  it("fails where its manager dies, once all else has ended, and says so last", async () => {
    start();
    await nextLine("The service runs.");
    const started = descendantsOf(dev.pid ?? 0);
    const { pid } = JSON.parse(readFileSync(join(project, ".unacked/dev/run/manager.pid.json"), "utf8")) as { pid: number };
    expect(started).toContain(pid);
    process.kill(pid, "SIGKILL");
    expect(await exit).toBe(EXIT_CODES.failed);
    await eventually(() => expect(lines.join("\n")).toContain("error: The manager ended (SIGKILL)."));
    await eventually(() => expect(started.filter(isAlive)).toEqual([]), { timeoutMs: 30_000 });
  });
});

const descendantsOf = (pid: number): number[] => childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
