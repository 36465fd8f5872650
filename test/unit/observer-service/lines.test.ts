import { beforeEach, expect, test } from "vitest";
import { Lines } from "../../../services/observer-service/src/slot/lines.ts";
import type { Begin } from "../../../services/observer-service/src/wire/messages.ts";

let lines: Lines;
beforeEach(() => {
  lines = new Lines();
});

const begin = (attempt: number): Begin => ({ attempt }) as Begin;
const next = (line: number) => lines.next(line)?.attempt;

test("behind the one that names the line each waits for the one before it", () => {
  expect([2, 3].map((attempt) => lines.enter(begin(attempt), 1, true))).toEqual([false, false]);
  expect([next(1), next(1), next(1)]).toEqual([2, 3, undefined]);
});

test("where that one is over it begins at once, and is who the next ones wait for", () => {
  expect(lines.enter(begin(2), 1, false)).toBe(true);
  expect(lines.enter(begin(3), 1, false)).toBe(false);
  expect([next(1), next(1)]).toEqual([3, undefined]);
});

test("one that came while the last of its line ran waits for that one", () => {
  lines.enter(begin(2), 1, true);
  expect(next(1)).toBe(2);
  expect(lines.enter(begin(3), 1, false)).toBe(false);
  expect(next(1)).toBe(3);
});

test("a line nobody of which is left may begin again", () => {
  lines.enter(begin(2), 1, true);
  expect([next(1), next(1)]).toEqual([2, undefined]);
  expect(lines.enter(begin(3), 1, false)).toBe(true);
});

test("who is taken out does not come; the others of all lines do", () => {
  for (const [attempt, line] of [
    [2, 1],
    [3, 1],
    [12, 11],
  ] as const)
    lines.enter(begin(attempt), line, true);
  expect([lines.takeOut(2), lines.takeOut(2), lines.takeOut(1)]).toEqual([true, false, false]);
  expect([next(1), next(11)]).toEqual([3, 12]);
});

test("all are taken out at once, and the lines go on", () => {
  for (const attempt of [2, 3]) lines.enter(begin(attempt), 1, true);
  expect(lines.takeOutAll()).toEqual([2, 3]);
  expect(lines.enter(begin(4), 1, true)).toBe(false);
  expect(next(1)).toBe(4);
});
