import { type ChildProcessByStdio, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, onTestFinished, test, vi } from "vitest";
import { createLog as managersLog } from "../../services/observer-manager/src/log.ts";
import { createLog as servicesLog } from "../../services/observer-service/src/log.ts";
import { ROOT } from "../support/processes/processes.ts";

afterEach(() => void vi.restoreAllMocks());

test.each([
  ["a file on a disk that is full", "> /dev/full"],
  ["a pipe that nobody reads", "> >(true)"],
])("A log ends nothing where standard output is %s", (_what, to) => {
  const file = join(ROOT, "test/support/logs/unwritable.mts");
  const command = `exec node --import tsx ${file} ${to}`;
  const { status, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8", cwd: ROOT, timeout: 60_000 });
  expect([status, stderr]).toEqual([0, "still here"]);
});

describe.each(["service", "manager"])("Into a pipe, a burst of a MiB of the log of a %s", (of) => {
  it("holds up nothing while its reader pauses, and comes through when it reads on", async () => {
    const { child, lines } = bursting(of, "ended");
    // Nothing is read of its standard output until then.
    await once(child.stderr, "data");
    const read = lines();
    child.stdin.end();
    expect(await read).toEqual([...Array.from({ length: 1_024 }, (_, line) => line), "the last line"]);
  });

  it("is not lost where a fatal error follows it, with which the process ends", async () => {
    const { child, lines } = bursting(of, "at-once");
    const exit = once(child, "exit");
    expect(await lines()).toHaveLength(1_025);
    expect(await exit).toEqual([3, null]);
  });
});

type Bursting = ChildProcessByStdio<Writable, Readable, Readable>;

function bursting(of: string, until: "ended" | "at-once"): { child: Bursting; lines(): Promise<unknown[]> } {
  const file = join(ROOT, "test/support/logs/bursting.mts");
  const child: Bursting = spawn(process.execPath, ["--import", "tsx", file, of, until], { cwd: ROOT });
  onTestFinished(() => void child.kill("SIGKILL"));
  const numberOrMessage = (line: string): unknown => {
    const { line: number, msg } = JSON.parse(line) as { line?: number; msg: string };
    return number ?? msg;
  };
  return { child, lines: async () => (await text(child.stdout)).trim().split("\n").map(numberOrMessage) };
}

test.each([
  ["service", servicesLog],
  ["manager", managersLog],
])(
  "The log of a %s goes on when there is room again, with what it had kept, no more than that, and how much was dropped",
  async (_of, createLog) => {
    let isFull = true;
    let written = "";
    vi.spyOn(fs, "writeSync").mockImplementation((_fd: number, part: string | NodeJS.ArrayBufferView) => {
      if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      written += typeof part === "string" ? part : Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString();
      return Buffer.byteLength(part);
    });
    const log = createLog("info", {});
    for (let line = 0; line < 5_000; line += 1) log.info({ line, text: "x".repeat(1_000) }, "no room");
    isFull = false;
    await vi.waitFor(() => expect(written).toContain("log-lines-dropped"));
    for (const line of [-1, -2]) log.info({ line }, "room again");
    const lines = written.trim().split("\n");
    const told = lines.map((each) => JSON.parse(each) as { line?: number; event?: string; lines?: number });
    expect(told.slice(-2)).toMatchObject([{ line: -1 }, { line: -2 }]);
    const kept = told.slice(0, -3);
    expect(kept.map(({ line }) => line)).toEqual(kept.map((_, number) => number));
    expect(told.at(-3)).toMatchObject({ event: "log-lines-dropped", lines: 5_000 - kept.length });
    expect(written.length).toBeGreaterThan(4_000_000);
    expect(written.length).toBeLessThan(4_300_000);
  },
);

test("A manager's line is written however long it is", () => {
  let written = "";
  vi.spyOn(fs, "writeSync").mockImplementation((_fd: number, part: string | NodeJS.ArrayBufferView) => {
    written += String(part);
    return Buffer.byteLength(part as string);
  });
  managersLog("info", {}).info({ text: "x".repeat(5_000_000) }, "long");
  expect(written.length).toBeGreaterThan(5_000_000);
});
