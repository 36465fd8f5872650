import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SlotOutput } from "../../../services/observer-service/src/keeper/slots/process/slot-output.ts";

let stdout: PassThrough;
let stderr: PassThrough;
let said: string[];
let output: SlotOutput;
const onHeld = vi.fn();

beforeEach(() => {
  // Streams go on by setImmediate and nextTick.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  stdout = new PassThrough({ highWaterMark: 65_536 });
  stderr = new PassThrough({ highWaterMark: 65_536 });
  said = [];
  onHeld.mockClear();
  output = new SlotOutput({ stdout, stderr }, (stream, text) => said.push(`${stream} ${text}`));
});
afterEach(() => vi.useRealTimers());

const linesOf = (stream: string): string[] => said.filter((line) => line.startsWith(stream));

async function pass(turns: number): Promise<void> {
  for (let i = 0; i <= turns; i += 1) {
    if (i > 0) vi.advanceTimersByTime(100);
    for (let j = 0; j < 5; j += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}

it("short lines are passed on 200 a turn, of both streams by turns; the rest waits in the slot, and none is lost", async () => {
  const printed = Array.from({ length: 1_000 }, (_, n) => String(n));
  stdout.write(`${printed.join("\n")}\n`);
  stderr.write(`${printed.join("\n")}\n`);
  await pass(0);
  expect(said).toHaveLength(200);
  expect([stdout.isPaused(), stderr.isPaused()]).toEqual([true, true]);
  await pass(4);
  expect(said).toHaveLength(1_000);
  expect(linesOf("stderr").length).toBeGreaterThanOrEqual(400);
  await pass(6);
  expect(linesOf("stdout")).toEqual(printed.map((line) => `stdout ${line}`));
  expect(linesOf("stderr")).toEqual(printed.map((line) => `stderr ${line}`));
  await pass(1);
  expect([stdout.isPaused(), stderr.isPaused()]).toEqual([false, false]);
});

it("what has no end of its line yet is passed on when it has, or when the stream ends; a line is cut", async () => {
  stdout.write("one\n\ntw");
  await pass(1);
  expect(said).toEqual(["stdout one"]);
  stdout.write(`o\n${"x".repeat(10_000)}\nlast`);
  stdout.end();
  await pass(1);
  expect(said).toEqual(["stdout one", "stdout two", `stdout ${"x".repeat(8_191)}…`, "stdout last"]);
});

it("of 65,536 characters a turn nothing more is read, and the next one is", async () => {
  stdout.write("x".repeat(65_536));
  await pass(0);
  expect(stdout.isPaused()).toBe(true);
  await pass(1);
  stdout.write("\n");
  await pass(1);
  expect(said).toEqual([`stdout ${"x".repeat(8_191)}…`]);
});

it("of a line that is longer than one read its beginning is passed on, marked as cut, and what follows it is whole", async () => {
  const words = (from: number) => Array.from({ length: 1_000 }, (_, n) => `wörd ${from + n}`).join(" ");
  const printed = Buffer.from(`HEAD ${words(0)} ${words(1_000)}`);
  const inACharacter = printed.indexOf("ö", 9_000) + 1;
  for (const stream of [stdout, stderr]) {
    stream.write(printed.subarray(0, inACharacter));
    await pass(1);
    stream.write(printed.subarray(inACharacter));
    await pass(1);
  }
  stdout.write(" TAIL\nnext\n");
  stderr.end();
  await pass(1);
  const beginning = `${printed.toString().slice(0, 8_191)}…`;
  expect(linesOf("stdout")).toEqual([`stdout ${beginning}`, "stdout next"]);
  expect(linesOf("stderr")).toEqual([`stderr ${beginning}`]);
});

it("a line as long as may be is whole", async () => {
  stdout.write(`${"x".repeat(8_192)}\n`);
  await pass(0);
  expect(said).toEqual([`stdout ${"x".repeat(8_192)}`]);
});

it("a dead slot's last words are passed on for a second, and that there were more is said", async () => {
  stdout.write("x\n".repeat(30_000));
  output.end(onHeld);
  await pass(20);
  expect(said.length).toBeLessThanOrEqual(2_201);
  expect(said.at(-1)).toContain("the slot has ended");
  expect(stdout.destroyed).toBe(true);
});

it("what another process has inherited of a dead slot's pipes is closed, and told of", async () => {
  stdout.write("of the slot\n");
  stderr.end();
  output.end(onHeld);
  await pass(9);
  expect([stdout.destroyed, onHeld.mock.calls.length]).toEqual([false, 0]);
  await pass(1);
  expect([stdout.destroyed, onHeld.mock.calls.length]).toEqual([true, 1]);
  expect(said).toEqual(["stdout of the slot"]);
});

it("what ended with its slot is held by nobody", async () => {
  stdout.end("of the slot");
  stderr.end();
  output.end(onHeld);
  await pass(11);
  expect(onHeld).not.toHaveBeenCalled();
  expect(said).toEqual(["stdout of the slot"]);
});
