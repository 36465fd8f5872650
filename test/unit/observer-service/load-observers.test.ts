import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadObservers } from "../../../services/observer-service/src/slot/load-observers.ts";
import { ROOT } from "../../support/processes/processes.ts";

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "unacked-folder-"));
  symlinkSync(join(ROOT, "node_modules"), join(dir, "node_modules"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const WELL =
  'import { defineObserver } from "@unacked/sdk";\nimport { z } from "zod";\nexport default defineObserver({ type: "well", params: z.strictObject({}), run: async () => {} });\n';

test("A link that leads nowhere, as an editor's lock does, is told of as a file that does not load, and costs no other its types", async () => {
  writeFileSync(join(dir, "well.mjs"), WELL);
  symlinkSync("somebody@somewhere.2025:1795830000", join(dir, ".#well.mjs"));
  const { types, broken } = await loadObservers(dir, {} as never);
  expect([...types.keys()]).toEqual(["well"]);
  expect(broken.map(({ file }) => basename(file))).toEqual([".#well.mjs"]);
});

test("What is suspected of ending slots is loaded before all others; of two files with one type the first by name has it all the same", async () => {
  for (const name of ["a.mjs", "b.mjs", "c.mjs"]) writeFileSync(join(dir, name), WELL);
  const order: string[] = [];
  const { code } = await loadObservers(dir, {} as never, {
    first: [join(dir, "c.mjs"), join(dir, "gone.mjs")],
    onFile: (file) => void order.push(basename(file?.file ?? "")),
  });
  expect(order).toEqual(["c.mjs", "a.mjs", "b.mjs", ""]);
  expect(code.map(({ file }) => basename(file))).toEqual(["a.mjs"]);
});

test("Code whose ending is not loaded is left out, and said to be; what is no code, a test, or declares types alone is not", async () => {
  writeFileSync(join(dir, "well.mjs"), WELL);
  for (const name of ["a.mts", "b.tsx", "c.cjs"]) writeFileSync(join(dir, name), WELL);
  for (const name of ["d.d.mts", "e.test.mts", "f.md", "g.json"]) writeFileSync(join(dir, name), "");
  mkdirSync(join(dir, "parts.cjs"));
  const { notOffered } = await loadObservers(dir, {} as never);
  expect(notOffered).toEqual(
    ["a.mts", "b.tsx", "c.cjs"].map((name) => ({
      file: join(dir, name),
      problem: `left out: ${name} (.ts, .js and .mjs are loaded)`,
    })),
  );
});
