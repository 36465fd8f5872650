import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
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

test.each([
  ["service", servicesLog, 1],
  ["manager", managersLog, 16],
])(
  "The log of a %s goes on when there is room again, with what it had kept and no more than that",
  (_of, createLog, mebibytes) => {
    let isFull = true;
    let written = "";
    vi.spyOn(fs, "writeSync").mockImplementation((_fd: number, part: string | NodeJS.ArrayBufferView) => {
      if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
      written += typeof part === "string" ? part : Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString();
      return Buffer.byteLength(part);
    });
    const log = createLog("info", {});
    for (let line = 0; line < mebibytes * 1_200; line += 1) log.info({ line, text: "x".repeat(1_000) }, "no room");
    isFull = false;
    for (const line of [-1, -2]) log.info({ line }, "room again");
    const lines = written.trim().split("\n");
    const numbers = lines.map((each) => (JSON.parse(each) as { line: number }).line);
    expect([numbers[0], numbers.at(-1)]).toEqual([0, -2]);
    expect(written.length).toBeLessThan(mebibytes * 2 ** 20 + 100_000);
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
