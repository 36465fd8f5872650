import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";

/** Docker as far as it is asked: a container "runs" until it is stopped or killed. It writes down what it is told. */
const DOCKER = `#!/bin/sh
cd "$(dirname "$0")"
echo "$@" >> asked
case $1 in
  run) rm -f ended ;;
  inspect) echo 1 ;;
  wait) while [ ! -e ended ]; do sleep 0.05; done ;;
  stop | kill) : > ended ;;
esac
`;
const MODULE = pathToFileURL(join(ROOT, "scripts/servers/rabbitmq-docker.mjs")).href;
/** Starts it, and stops it when a line comes in. */
const PROGRAM = `
import { createInterface } from "node:readline";
import { containerOf } from ${JSON.stringify(MODULE)};
const settings = { nodeName: "unacked-1@localhost", port: 1, managementPort: 2 };
const life = containerOf(process.cwd(), settings, (name) => ({ name, logFiles: [], timeoutMs: 5_000, isReady: async () => true }));
await life.start();
console.log("up");
for await (const _ of createInterface({ input: process.stdin })) {
  await life.stop();
  console.log("down");
}
`;

type Program = ChildProcessByStdio<Writable, Readable, null>;

describe("a private RabbitMQ in Docker", () => {
  let dir: string;
  let programs: Program[];
  const data = () => join(dir, "data");
  const asked = () => readFileSync(join(dir, "asked"), "utf8").trimEnd().split("\n");

  beforeEach(() => {
    programs = [];
    dir = mkdtempSync(join(tmpdir(), "unacked-docker-"));
    writeFileSync(join(dir, "docker"), DOCKER);
    chmodSync(join(dir, "docker"), 0o755);
  });

  afterEach(async () => {
    for (const each of programs) each.kill("SIGKILL");
    if (existsSync(dir)) writeFileSync(join(dir, "ended"), "");
    // What a program had called writes once more. Node's own retries are of the folder, and do not empty it again.
    await eventually(() => rmSync(dir, { recursive: true, force: true }));
  });

  async function startedProgram(): Promise<Program> {
    const env = { ...process.env, PATH: `${dir}:${process.env["PATH"]}` };
    const program = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM], {
      cwd: dir,
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    programs.push(program);
    const [line] = (await once(program.stdout, "data")) as [Buffer];
    expect(String(line)).toBe("up\n");
    return program;
  }

  it("runs as who owns its data, so that we can still open and empty the folder", async () => {
    await startedProgram();
    const { uid, gid } = statSync(data());
    expect(asked().find((words) => words.startsWith("run"))).toContain(` --user ${uid}:${gid} `);
  });

  it.skipIf(process.getuid?.() !== 0)("does so too where the folder is the image's user's already", async () => {
    mkdirSync(data());
    chownSync(data(), 999, 998);
    await startedProgram();
    expect(asked().find((words) => words.startsWith("run"))).toContain(" --user 999:998 ");
  });

  it("is killed when we are, whatever the cause", async () => {
    const program = await startedProgram();
    program.kill("SIGKILL");
    await eventually(() => expect(asked()).toContain("kill unacked-1"), { timeoutMs: 2_000, what: "the container's end" });
  });

  it("is left alone once it has ended in order: the next start's has its name", async () => {
    const program = await startedProgram();
    await eventually(() => expect(asked().at(-1)).toMatch(/^wait/)); // nobody waits for that
    program.stdin.write("stop\n");
    await once(program.stdout, "data");
    program.stdin.end();
    await once(program, "exit");
    expect(asked().map((words) => words.split(" ")[0])).toEqual(["rm", "run", "inspect", "wait", "stop"]);
  });
});
