import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../support/processes/processes.ts";
import { openApi } from "../support/rest/rest-contract.ts";

const FOLDER = join(ROOT, "test/generated-client");
const GENERATOR = join(FOLDER, "node_modules/openapi-typescript/bin/cli.js");
const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");
const OPTIONS = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--allowImportingTsExtensions"];

test("a client that openapi-typescript generates with its own defaults need not state what has a default", () => {
  const folder = mkdtempSync(join(tmpdir(), "unacked-client-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(openApi()));
  copyFileSync(join(FOLDER, "client.ts"), join(folder, "client.ts"));
  run(GENERATOR, ["openapi.json", "-o", "api.d.ts"], folder);
  expect(run(COMPILER, [...OPTIONS, "client.ts"], folder)).toBe("");
});

/** What it prints; also where it fails. */
function run(program: string, args: string[], cwd: string): string {
  try {
    return execFileSync(process.execPath, [program, ...args], { cwd, encoding: "utf8" });
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  }
}
