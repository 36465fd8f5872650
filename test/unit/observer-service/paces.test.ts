import { expect, test } from "vitest";
import { Paces } from "../../../services/observer-service/src/keeper/tasks/paces.ts";

/** Tells whenever there is news, as a service does. */
function telling() {
  const told: (number | undefined)[] = [];
  let nowMs = 0;
  const paces = new Paces(() => told.push(paces.tell("work", nowMs)));
  const run = (count: number, tookMs: number, apartMs: number) => {
    for (let i = 0; i < count; i += 1) paces.note("work", tookMs, (nowMs += apartMs));
  };
  return { paces, told, run };
}

test("It is told once twenty have run, and not before", () => {
  const { paces, told, run } = telling();
  run(19, 30, 1);
  expect([told, paces.tell("work"), paces.tell("other")]).toEqual([[], undefined, undefined]);
  run(1, 30, 1);
  expect(told).toEqual([30]);
});

test("It is told again when they take half or twice as long, once a second at most, and else not", () => {
  const { told, run } = telling();
  run(200, 32, 20);
  run(200, 48, 20);
  expect(told).toEqual([32]);
  run(200, 128, 20);
  expect(told).toHaveLength(2);
  expect(told[1]).toBeGreaterThanOrEqual(64);
  run(1, 10_000, 20);
  expect(told).toHaveLength(3);
  run(45, 10_000, 20);
  expect(told).toHaveLength(3);
  run(10, 10_000, 20);
  expect(told).toHaveLength(4);
  run(500, 1, 20);
  expect(told.at(-1)).toBeLessThan(10);
});

test("It is a mean: of a hundred among which five take a second, each takes fifty times as long as most", () => {
  const { paces, run } = telling();
  for (let i = 0; i < 20; i += 1) {
    run(19, 1, 20);
    run(1, 1_001, 20);
  }
  expect(paces.tell("work")).toBeGreaterThan(30);
  expect(paces.tell("work")).toBeLessThan(80);
});

test("A moment in which the machine stood still is not all that is known of thousands a second", () => {
  const { paces, told, run } = telling();
  run(10_000, 2, 0.1);
  run(100, 80, 0.1);
  expect(told).toEqual([2]);
  expect(paces.tell("work")).toBeLessThan(4);
});
