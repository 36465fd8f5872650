import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PROGRAMS } from "../../scripts/bundles/program-bundles.mjs";
import { BEING_MADE, putInPlace } from "../../scripts/bundles/put-in-place.mjs";
import { ROOT } from "../support/processes/processes.ts";

let bundle = "";
beforeEach(() => {
  bundle = mkdtempSync(join(tmpdir(), "unacked-bundle-"));
});
afterEach(() => rmSync(bundle, { recursive: true }));

function write(files: Record<string, string>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(bundle, file)), { recursive: true });
    writeFileSync(join(bundle, file), text);
  }
}

const found = () =>
  readdirSync(bundle, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(bundle.length + 1))
    .toSorted();

it("a bundle that was made anew takes the place of the old one, of which nothing stays", () => {
  write({ "main.js": "old", "slot/main.js": "old", "chunks/a-1.js": "old" });
  write({ [`${BEING_MADE}/main.js`]: "new", [`${BEING_MADE}/slot/main.js`]: "new", [`${BEING_MADE}/chunks/a-2.js`]: "new" });
  putInPlace(bundle);
  expect(found()).toEqual(["chunks/a-2.js", "main.js", "slot/main.js"]);
  for (const file of found()) expect(readFileSync(join(bundle, file), "utf8")).toBe("new");
  expect(existsSync(join(bundle, BEING_MADE))).toBe(false);
});

it("cut short, it has put in place what programs load, and has taken nothing away", () => {
  write({ "main.js": "old", "chunks/a-1.js": "old", [`${BEING_MADE}/chunks/a-2.js`]: "new" });
  // A folder cannot take the place of a file: it is cut short here.
  write({ [`${BEING_MADE}/main.js`]: "new" });
  rmSync(join(bundle, "main.js"));
  write({ "main.js/in-the-way": "" });
  expect(() => putInPlace(bundle)).toThrow();
  expect(found()).toEqual([`${BEING_MADE}/main.js`, "chunks/a-1.js", "chunks/a-2.js", "main.js/in-the-way"]);
});

/** Another version than the one that runs it, for whoever asks. */
const sayingToBe = (node: string): string =>
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${node}"}})`;

const programs = PROGRAMS.filter(({ entries }) => "main" in entries).map(({ of }) => of);
it.each(programs)("%s says at once that a Node is too old, and which would do", (of) => {
  const main = join(ROOT, of, "bundle/main.js");
  const start = (node: string) =>
    spawnSync(process.execPath, ["--import", sayingToBe(node), main, "--version"], { encoding: "utf8" });
  const { status, stdout, stderr } = start("20.18.3");
  expect([status, stdout, stderr]).toEqual([
    2,
    "",
    "Node 20.19 or newer is needed, this is 20.18.3. See https://nodejs.org\n",
  ]);
  expect(start("20.19.0").status).toBe(0);
});

it("A slot makes none of the schemas of messages: it would take longer than all else until it loads its folder", () => {
  const slot = readFileSync(join(ROOT, "services/observer-service/bundle/slot/main.js"), "utf8");
  const withoutSchemas = ["messages/announced-types", "place-text", "text-lengths", "thrown"].map(
    (name) => `libs/contracts/dist/${name}.js`,
  );
  expect(slot.match(/(?<=^\/\/ )libs\/contracts\S+/gm)?.toSorted()).toEqual(withoutSchemas);
});

it("A folder without packages gets each of those that are offered as one file, of which two ways to import it share what is in it", () => {
  const service = join(ROOT, "services/observer-service/bundle/slot");
  write({
    "hooks.mjs": `import { register } from "node:module"; register(${JSON.stringify(`file://${service}/resolve-sdk.js`)});`,
    "observer.mjs": `
      import { defineObserver } from "@unacked/sdk";
      import { z } from "zod";
      import * as core from "zod/v4/core";
      import * as mini from "zod/mini";
      import de from "zod/v4/locales/de.js";
      const isShared = z.string() instanceof core.$ZodType && z.core.$ZodType === core.$ZodType && mini.string() instanceof core.$ZodType;
      const at = ["@unacked/sdk", "zod", "zod/v4/core", "zod/mini"].map((name) => import.meta.resolve(name));
      console.log(JSON.stringify({ at, isShared, types: [typeof defineObserver, typeof de] }));`,
  });
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", join(bundle, "hooks.mjs"), join(bundle, "observer.mjs")],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    at: ["@unacked/sdk", "zod", "zod/v4/core", "zod/mini"].map((name) => `file://${service}/offered/${name}.js`),
    isShared: true,
    types: ["function", "function"],
  });
});
