import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import * as sdk from "../../libs/sdk/src/index.ts";
import { sdkPage } from "../../scripts/docs/sdk-page.mjs";
import { ROOT } from "../support/processes/processes.ts";

const FILE = "docs/sdk.md";
const PARTS = [
  FILE,
  "libs/sdk/src",
  "libs/sdk/dist",
  "scripts/docs",
  "test/generated-client/package.json",
  "tsconfig.base.json",
];
const NOTE = `${readFileSync(join(ROOT, FILE), "utf8").split("\n")[0]}\n`;

/** A copy of what the page is made from, and of the page. */
function copied(): string {
  const root = mkdtempSync(join(tmpdir(), "unacked-reference-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const part of PARTS) {
    mkdirSync(dirname(join(root, part)), { recursive: true });
    cpSync(join(ROOT, part), join(root, part), { recursive: true });
  }
  return root;
}
const isFresh = async (root: string) => (await sdkPage(root, NOTE, true)) === readFileSync(join(root, FILE), "utf8");

test.each([FILE, "libs/sdk/dist/spy.d.ts", "scripts/docs/sdk-chapters.mjs"])(
  "the reference of the SDK is out of date once %s is another, which is known without TypeDoc",
  async (file) => {
    const root = copied();
    expect(await isFresh(root)).toBe(true);
    appendFileSync(join(root, file), "\n// changed\n");
    expect(await isFresh(root)).toBe(false);
  },
);

test("every value that the SDK exports has its heading in the reference", () => {
  const headings = [...readFileSync(join(ROOT, FILE), "utf8").matchAll(/^### (?:class |const )?([\w\\]+)/gm)].map(
    ([, name = ""]) => name.replaceAll("\\", ""),
  );
  expect(Object.keys(sdk).filter((name) => !headings.includes(name))).toEqual([]);
});
