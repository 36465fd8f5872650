import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { ObserverDefinition } from "@unacked/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firstEventsOf } from "../support/sdk/first-events.ts";

const run = promisify(execFile);
const PAGE = "docs/test-an-observer.md";
/** Below the packages, so that the files find the SDK as they would in a project of their own. */
const BELOW = "node_modules/.unacked-docs";

/** The files that the page shows, as they stand there; test/unit/docs-code.test.ts compiles them, with those of all pages. */
const files = [...readFileSync(PAGE, "utf8").matchAll(/^```ts file=(\S+)\n(.*?)^```$/gms)].map(
  ([, name = "", text = ""]) => ({
    name,
    text,
  }),
);
const tests = files.filter(({ name }) => name.endsWith(".test.ts"));
let dir: string;

beforeAll(() => {
  mkdirSync(BELOW, { recursive: true });
  dir = mkdtempSync(join(BELOW, "examples-"));
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
  for (const { name, text } of files) writeFileSync(join(dir, name), text);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Rejects with what it has printed. */
const node = async (...args: string[]): Promise<string> => {
  try {
    return (await run(process.execPath, args, { cwd: dir, timeout: 120_000 })).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`node ${args.join(" ")}\n${stdout}${stderr}`, { cause: error });
  }
};

describe(`the examples of ${PAGE}`, () => {
  test("are an observer that saves, one that is changed, and a task, each with its test", () => {
    expect(files.map(({ name }) => name)).toEqual([
      "journal.ts",
      "journal.test.ts",
      "thermometer.ts",
      "thermometer.test.ts",
      "import-catalogue.ts",
      "import-catalogue.test.ts",
    ]);
  });

  test("pass their tests as the page runs them", async () => {
    const told = await node("--import", "tsx", "--test", "--test-reporter=tap", ...tests.map(({ name }) => name));
    expect(told).toMatch(/^# fail 0$/m);
    expect(told).toMatch(/^# pass [5-9]$/m);
  }, 130_000);

  test("emit on where a checkpoint waits for its time: the journal's lines do not wait for it", async () => {
    const file = join(dir, "lines");
    writeFileSync(file, "a line\n".repeat(20));
    const { default: journal } = (await import(resolve(dir, "journal.ts"))) as { default: ObserverDefinition };
    const events = await firstEventsOf(journal, { file }, 20);
    expect(events.at(-1)).toEqual({ line: 20, text: "a line" });
  });
});
