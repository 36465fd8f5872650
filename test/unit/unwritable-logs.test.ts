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

const NUMBERS = Array.from({ length: 1_024 }, (_, line) => line);

describe.each(["service", "manager"])("Into a pipe, a burst of the log of a %s", (of) => {
  it("holds up nothing while its reader pauses, and comes through when it reads on", async () => {
    const { child, says, lines } = bursting(of, 1_024, "ended");
    // Nothing is read of its standard output until then.
    await once(says, "data");
    const read = lines();
    child.stdin.end();
    expect(await read).toEqual([...NUMBERS, "the last line"]);
  });

  it("holds up nothing where standard error is the same pipe, and a child has it, too", async () => {
    const { child, says, lines } = bursting(of, 1_024, "ended", "2>&1");
    await once(says, "data");
    const read = lines();
    child.stdin.end();
    expect(await read).toEqual([...NUMBERS, "the last line"]);
  });

  it("is not lost where a fatal error follows it, with which the process ends", async () => {
    const { child, lines } = bursting(of, 1_024, "at-once");
    const exit = once(child, "exit");
    expect(await lines()).toHaveLength(1_025);
    expect(await exit).toEqual([3, null]);
  });

  it("costs its own lines, and not the last one, where it is more than is kept", async () => {
    const { child, says, lines } = bursting(of, 6_000, "ended");
    await once(says, "data");
    const read = lines();
    child.stdin.end();
    const told = await read;
    expect(told.at(-1)).toBe("the last line");
    expect(told).toContain("standard output accepted no more: these lines were dropped");
  });
});

type Bursting = ChildProcessByStdio<Writable, Readable, null>;

function bursting(of: string, kib: number, until: "ended" | "at-once", shared = "") {
  const command = `exec ${process.execPath} --import tsx test/support/logs/bursting.mts ${of} ${kib} ${until} ${shared}`;
  const child = spawn("bash", ["-c", command], { cwd: ROOT, stdio: ["pipe", "pipe", "inherit", "pipe"] }) as Bursting;
  onTestFinished(() => void child.kill("SIGKILL"));
  const numberOrMessage = (line: string): unknown => {
    const { line: number, msg } = JSON.parse(line) as { line?: number; msg: string };
    return number ?? msg;
  };
  const lines = async () => (await text(child.stdout)).trim().split("\n").map(numberOrMessage);
  return { child, says: child.stdio[3] as Readable, lines };
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
    await vi.waitFor(() => expect(written).toContain("log-lines-dropped"), { timeout: 10_000 });
    for (const line of [-1, -2]) log.info({ line }, "room again");
    const lines = written.trim().split("\n");
    const told = lines.map((each) => JSON.parse(each) as { line?: number; event?: string; lines?: number });
    expect(told.slice(-2)).toMatchObject([{ line: -1 }, { line: -2 }]);
    const dropped = told.findIndex(({ event }) => event === "log-lines-dropped");
    const first = told.slice(0, dropped).map(({ line }) => line);
    const newest = told.slice(dropped + 1, -2).map(({ line }) => line);
    // What is tried again stays, and is a piece of 16 KiB at most.
    expect(first).toEqual(first.map((_, number) => number));
    expect(first.length).toBeLessThan(20);
    expect(told[dropped]).toMatchObject({ lines: 5_000 - first.length - newest.length });
    expect(newest).toEqual(newest.map((_, number) => 5_000 - newest.length + number));
    expect(written.length).toBeGreaterThan(4_000_000);
    expect(written.length).toBeLessThan(4_300_000);
  },
);

test("What does not want to be written, and is no slow reader, is tried once a second", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const write = vi.spyOn(fs, "writeSync").mockImplementation(() => {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  });
  await vi.advanceTimersByTimeAsync(10_000); // what a test before has left to be tried
  write.mockClear();
  servicesLog("info", {}).info("no room");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(write.mock.calls.length).toBeGreaterThan(8);
  expect(write.mock.calls.length).toBeLessThan(14);
  write.mockImplementation((_fd, part) => Buffer.byteLength(part as string));
  await vi.advanceTimersByTimeAsync(1_000); // the next test begins with nothing kept
});

test("A line behind what had no room is written at once, when all of that is", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let isFull = true;
  let written = "";
  vi.spyOn(fs, "writeSync").mockImplementation((_fd: number, part: string | NodeJS.ArrayBufferView) => {
    if (isFull) throw Object.assign(new Error("EAGAIN"), { code: "EAGAIN" });
    written += String(part);
    return Buffer.byteLength(part as string);
  });
  const log = servicesLog("info", {});
  log.info("first");
  const later = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 7); // the same turn goes on
  log.info("second");
  isFull = false;
  await vi.advanceTimersByTimeAsync(5);
  expect(written).toContain("second");
  log.info("last");
  expect(written).toContain("last");
  later.mockRestore();
});

test("A manager's line is written however long it is", () => {
  let written = "";
  vi.spyOn(fs, "writeSync").mockImplementation((_fd: number, part: string | NodeJS.ArrayBufferView) => {
    written += String(part);
    return Buffer.byteLength(part as string);
  });
  managersLog("info", {}).info({ text: "x".repeat(5_000_000) }, "long");
  expect(written.length).toBeGreaterThan(5_000_000);
});
