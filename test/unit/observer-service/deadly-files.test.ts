import { beforeEach, expect, test } from "vitest";
import { DeadlyFiles } from "../../../services/observer-service/src/keeper/slots/deadly-files.ts";

const FILE = { file: "/types/addon.ts", print: "1" };
let files: DeadlyFiles;
beforeEach(() => {
  files = new DeadlyFiles();
});

test("a file is left out when it has ended two slots in a row, as long as its code is the same", () => {
  expect(files.note(FILE, "SIGSEGV")).toBe(false);
  expect(files.note(FILE, "SIGSEGV")).toBe(true);
  expect(files.all).toEqual([{ ...FILE, problem: expect.stringContaining("SIGSEGV") }]);
  expect(files.note({ ...FILE, print: "2" }, "SIGSEGV")).toBe(false);
  expect(files.all).toEqual([]);
});

test("what ended one once, and was loaded since, has to end two again", () => {
  files.note(FILE, "SIGSEGV");
  files.clear(FILE.file);
  expect(files.note(FILE, "SIGSEGV")).toBe(false);
});
