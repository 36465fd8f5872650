import { expect, test } from "vitest";
import { createBoundedEmitter } from "../../observers/process/bounded-emitter.ts";
import { createLineReader } from "../../observers/process/line-reader.ts";

test("lines come out whole, however the text was cut into pieces", () => {
  const reader = createLineReader(100);
  const lines = ["on", "e\r\ntw", "o\n\nthr", "ee"].flatMap((piece) => reader.push(piece));
  expect([...lines, ...reader.rest()].map(({ line }) => line)).toEqual(["one", "two", "", "three"]);
  expect(reader.rest()).toEqual([]);
});

test("a line without an end does not fill the memory: it is cut and marked, the next one is whole", () => {
  const reader = createLineReader(4);
  const lines = ["abc", "defgh", "ijk\nxyz\n"].flatMap((piece) => reader.push(piece));
  expect(lines).toEqual([{ line: "abcd", truncated: true }, { line: "xyz" }]);
});

test("no more than the limit is unconfirmed: the sender waits, and goes on when one is confirmed", async () => {
  const confirms: (() => void)[] = [];
  const emitter = createBoundedEmitter(
    () => new Promise<void>((resolve) => confirms.push(resolve)),
    2,
    new AbortController().signal,
  );
  await emitter.send(1);
  await emitter.send(2);
  const third = emitter.send(3);
  expect(confirms).toHaveLength(2);
  confirms[0]?.();
  await third;
  expect(confirms).toHaveLength(3);
});

test("a line that nobody was told is remembered: nothing behind it is to be saved", async () => {
  const answers = [Promise.resolve(), Promise.reject(new Error("unavailable"))];
  const emitter = createBoundedEmitter(() => answers.shift() ?? Promise.resolve(), 2, new AbortController().signal);
  await emitter.send(1);
  expect(emitter.hasLost()).toBe(false);
  await emitter.send(2);
  await new Promise(setImmediate);
  expect(emitter.hasLost()).toBe(true);
});

test("after the abort nothing waits any longer: what has no place is dropped and counted", async () => {
  const abort = new AbortController();
  const emitter = createBoundedEmitter(() => new Promise<void>(() => {}), 1, abort.signal);
  await emitter.send(1);
  const waiting = emitter.send(2);
  abort.abort();
  await waiting;
  await emitter.send(3);
  expect(emitter.dropped()).toBe(2);
});
