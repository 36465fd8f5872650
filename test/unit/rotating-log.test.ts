import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openRotatingLog } from "../../scripts/start/rotating-log.mjs";

let dir: string;
let complaints: string[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "unacked-log-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  complaints = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => complaints.push(String(text)) > 0);
});
afterEach(() => void vi.restoreAllMocks());

const line = (text: string) => Buffer.from(`${text}\n`);
const TEN_MIB = Buffer.alloc(10 * 1024 * 1024 + 1, "x");

test("a log that is full goes on in a new file, and the one before it stays", () => {
  const log = openRotatingLog(join(dir, "logs/a.log"));
  log.write(TEN_MIB);
  log.write(line("next"));
  expect(readFileSync(log.path, "utf8")).toBe("next\n");
  expect(readFileSync(`${log.path}.1`)).toHaveLength(TEN_MIB.length);
});

test("what a log of an earlier start has is the one before it", () => {
  for (const text of ["earlier", "now"]) openRotatingLog(join(dir, "a.log")).write(line(text));
  expect(readFileSync(join(dir, "a.log"), "utf8")).toBe("now\n");
  expect(readFileSync(join(dir, "a.log.1"), "utf8")).toBe("earlier\n");
});

test.each([
  ["", "before"],
  [" when it is full", TEN_MIB.toString()],
])("a log whose folder is removed%s is made again", (_, before) => {
  const log = openRotatingLog(join(dir, "logs/a.log"));
  log.write(line(before));
  rmSync(join(dir, "logs"), { recursive: true });
  for (const text of ["after", "later"]) log.write(line(text));
  expect(readFileSync(log.path, "utf8")).toBe("after\nlater\n");
  expect(complaints).toEqual([]);
});

test("lines that cannot be written are dropped, which is said once, and what can be written again is", () => {
  const log = openRotatingLog(join(dir, "logs/a.log"));
  rmSync(join(dir, "logs"), { recursive: true });
  writeFileSync(join(dir, "logs"), "no folder");
  for (const text of ["first", "second"]) log.write(line(text));
  expect(complaints).toEqual([expect.stringContaining(`${log.path} cannot be written`)]);
  rmSync(join(dir, "logs"));
  log.write(line("third"));
  expect(readFileSync(log.path, "utf8")).toBe("third\n");
});

test("a log on a disk that is full ends nothing", () => {
  const log = openRotatingLog(join(dir, "a.log"));
  symlinkSync("/dev/full", log.path);
  log.write(line("no room"));
  expect(complaints).toEqual([expect.stringContaining("no space left on device")]);
});
