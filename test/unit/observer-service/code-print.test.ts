import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { codePrint } from "../../../services/observer-service/src/slot/code-print.ts";
import { cpuMsOf } from "../../support/time/cpu-time.ts";

const FILES: Record<string, string> = {
  "feed.ts": `import { a } from "./lib/a.js";\nimport data from './lib/data.json';\nimport { z } from "zod";\n`,
  "lib/a.ts": `export * from "./b";\nexport const later = () => import("../late.mjs");\n`,
  "lib/b.ts": `export const b = 1;\n`,
  "lib/data.json": "{}",
  "late.mjs": `export default 1;\nimport "./feed.ts"; // a circle\n`,
};

let dir: string;
const save = (name: string, text: string): void => writeFileSync(join(dir, name), text);
const print = (name = "feed.ts"): string => codePrint(join(dir, name));

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "print-"));
  mkdirSync(join(dir, "lib"));
  for (const [name, text] of Object.entries(FILES)) save(name, text);
});
afterEach(() => rmSync(dir, { recursive: true }));

it("is another one when the file, or anything that it imports by a relative path, is another one", () => {
  const seen = new Set([print()]);
  for (const name of ["feed.ts", "lib/a.ts", "lib/b.ts", "lib/data.json", "late.mjs"]) {
    save(
      name,
      name.endsWith("json") ? "[]" : `export const x = 1; import "./lib/a.js"; import "./b.js"; import "../late.mjs";`,
    );
    seen.add(print());
    save(name, FILES[name] ?? "");
  }
  expect(seen.size).toBe(6);
});

it("is the same again when the code is, whatever else lies in the folder", () => {
  const before = print();
  save("lib/b.ts", `export const b = 2;\n`);
  expect(print()).not.toBe(before);
  save("lib/b.ts", `export const b = 1;\n`);
  save("other.ts", "export default 1;");
  expect(print()).toBe(before);
});

it("is given of what cannot be found, too", () => {
  save("feed.ts", `import { a } from "./lib/missing.js";`);
  const before = print();
  save("lib/missing.ts", "export const a = 1;");
  expect(print()).not.toBe(before);
  expect(print("no-such-file.ts")).toBe(print("nor-this.ts"));
});

it("is that of the TypeScript, where JavaScript that was made of it once lies beside it", () => {
  save("lib/a.js", `export * from "./b.js";\n`);
  save("lib/b.js", `export const b = 1;\n`);
  const before = print();
  save("lib/b.ts", `export const b = 2;\n`);
  expect(print()).not.toBe(before);
});

it("takes no more than a moment, whatever stands in the file", () => {
  save("blank.ts", `import(${" ".repeat(100_000)}x); import${" ".repeat(100_000)}x`);
  expect(cpuMsOf(() => print("blank.ts"))).toBeLessThan(1_000);
});
