import { expect, test } from "vitest";
import { turnsOf } from "../../../services/observer-manager/src/domain/tasks/lanes.ts";

/** How many join each lane. */
const lengths = (lanes: number, turns: number[]) =>
  Array.from({ length: lanes }, (_, lane) => turns.filter((turn) => turn === lane).length);

test("few lanes are filled by turns, as far as they may be, and as many as there are followers", () => {
  expect(turnsOf(1, 3, 99)).toEqual([0, 0, 0]);
  expect(lengths(2, turnsOf(2, 100, 4))).toEqual([4, 4]);
  expect(turnsOf(3, 2, 99)).toHaveLength(2);
});

test("nobody joins where there are no lanes, no followers, or no room", () => {
  expect([turnsOf(0, 5, 9), turnsOf(5, 0, 9), turnsOf(5, 5, 0)]).toEqual([[], [], []]);
});

test("of many, some are long and some short, by even steps; none is longer than it may be, and all followers have one", () => {
  const all = lengths(100, turnsOf(100, 1_000, 99));
  expect(all.reduce((sum, length) => sum + length)).toBe(1_000);
  expect([Math.min(...all), Math.max(...all)]).toEqual([0, 20]);
  // Each length is had by as many as each other one, but for what is rounded.
  for (let length = 1; length < 20; length += 1) expect(all.filter((one) => one === length).length).toBeOneOf([4, 5, 6]);
});

test("where there are more followers than room, a quarter of many lanes is left free", () => {
  const all = lengths(100, turnsOf(100, 100_000, 10));
  expect(all.reduce((sum, length) => sum + length)).toBe(750);
  expect(Math.max(...all)).toBe(10);
  expect(Math.min(...all)).toBe(5);
});

test("a turn goes through all lanes that are not full, so that the last to come are those left out", () => {
  const turns = turnsOf(20, 60, 99);
  const some = lengths(20, turns.slice(0, 30));
  const all = lengths(20, turns);
  for (const [lane, length] of some.entries()) expect(length).toBeLessThanOrEqual(all[lane] as number);
  expect(Math.max(...some)).toBeLessThan(Math.max(...all));
});
