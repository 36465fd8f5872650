import { execFileSync, spawn } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readToEnd } from "../../../cli/src/io.ts";

test("Standard input that does not block is waited for: each piece as it comes, until its end", () => {
  const folder = mkdtempSync(join(tmpdir(), "unacked-input-"));
  const pipe = join(folder, "pipe");
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", pipe]);
  const input = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const output = openSync(pipe, constants.O_WRONLY);
  onTestFinished(() => {
    closeSync(input);
    rmSync(folder, { recursive: true });
  });
  spawn("sh", ["-c", "sleep 0.1; echo 'name: ä'; sleep 0.1; echo 'type: b'"], { stdio: ["ignore", output, "ignore"] });
  closeSync(output);
  expect(readToEnd(input)).toBe("name: ä\ntype: b\n");
});

test("Standard input that cannot be read is a mistake of who gave it, and told in a line", () => {
  const folder = openSync(tmpdir(), constants.O_RDONLY);
  onTestFinished(() => closeSync(folder));
  expect(() => readToEnd(folder)).toThrow(/^standard input cannot be read: EISDIR/);
});
