import { beforeEach, expect, test } from "vitest";
import { DeadlyFiles } from "../../../services/observer-service/src/keeper/slots/blame/deadly-files.ts";

const FILE = { file: "/types/addon.ts", print: "1" };
const OTHER = { file: "/types/other.ts", print: "1" };
let files: DeadlyFiles;
beforeEach(() => {
  files = new DeadlyFiles();
});

test("a file is left out when it has ended a slot, and then one that loaded it before all others, as long as its code is the same", () => {
  expect(files.note(FILE, "SIGSEGV", false)).toBe(false);
  expect([files.first(), files.all()]).toEqual([[FILE.file], []]);
  expect(files.note(FILE, "SIGSEGV", true)).toBe(true);
  expect(files.first()).toEqual([]);
  expect(files.all()).toEqual([{ ...FILE, problem: expect.stringContaining("SIGSEGV") }]);
  expect(files.note({ ...FILE, print: "2" }, "SIGSEGV", true)).toBe(false);
  expect(files.all()).toEqual([]);
});

test("slots that had begun before, and end with the first, count for nothing; the last file found is loaded first", () => {
  for (let slots = 0; slots < 16; slots += 1) expect(files.note(FILE, "SIGSEGV", false)).toBe(false);
  expect(files.isHopeless).toBe(false);
  expect(files.note(OTHER, "SIGSEGV", false)).toBe(false);
  expect([files.first(), files.all()]).toEqual([[OTHER.file, FILE.file], []]);
});

test("what ended one once, and was loaded since, has to end two again", () => {
  files.note(FILE, "SIGSEGV", false);
  files.loaded([]);
  expect(files.first()).toEqual([]);
  expect(files.note(FILE, "SIGSEGV", true)).toBe(false);
});

test("a file that was left out is tried again after ten minutes, or when that is asked for: it has to end one slot, and is forgotten where it does not", () => {
  const leaveOut = (nowMs: number) => [false, true].map((wasFirst) => files.note(FILE, "SIGSEGV", wasFirst, nowMs)).at(-1);
  expect(leaveOut(0)).toBe(true);
  files.loaded([FILE.file]);
  expect([files.first(599_999), files.first(600_000)]).toEqual([[], [FILE.file]]);
  expect(files.lacking.map(({ file }) => file)).toEqual([FILE.file]); // no slot has loaded it yet
  expect(files.note(FILE, "SIGSEGV", true, 600_001)).toBe(true);
  files.tryAgain();
  expect([files.first(600_002), files.all(600_002)]).toEqual([[FILE.file], []]);
  files.loaded([]);
  expect([files.first(600_004), files.lacking]).toEqual([[], []]);
});

test("a slot that has done without it, and has loaded by the time that it is tried again, says nothing of it", () => {
  for (const wasFirst of [false, true]) files.note(FILE, "SIGSEGV", wasFirst);
  files.tryAgain();
  files.loaded([FILE.file]);
  expect(files.note(FILE, "SIGSEGV", true)).toBe(true);
});

test("where each end names another file it is given up", () => {
  for (let i = 0; i < 9; i += 1) files.note(i % 2 === 0 ? FILE : OTHER, "SIGSEGV", false);
  expect(files.isHopeless).toBe(false);
  files.note(OTHER, "SIGSEGV", false);
  expect(files.isHopeless).toBe(true);
});
