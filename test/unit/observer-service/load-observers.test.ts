import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

test("A link that leads nowhere, as an editor's lock does, is told of as a file that does not load, and costs no other its types", async () => {
  writeFileSync(
    join(dir, "well.mjs"),
    'import { defineObserver } from "@unacked/sdk";\nimport { z } from "zod";\nexport default defineObserver({ type: "well", params: z.strictObject({}), run: async () => {} });\n',
  );
  symlinkSync("somebody@somewhere.2025:1795830000", join(dir, ".#well.mjs"));
  const { types, broken } = await loadObservers(dir, {} as never);
  expect([...types.keys()]).toEqual(["well"]);
  expect(broken.map(({ file }) => basename(file))).toEqual([".#well.mjs"]);
});
