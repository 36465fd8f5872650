import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Pacer } from "../../../services/observer-service/src/keeper/runs/pacer.ts";

test("items have their turn in order, a slice of some milliseconds per turn of the event loop", async () => {
  const done: number[] = [];
  const pacer = new Pacer<number>((item) => void (busyFor(2) ?? done.push(item)), 5);
  const busyFor = (ms: number) => {
    for (const endMs = performance.now() + ms; performance.now() < endMs; );
  };
  for (let item = 0; item < 12; item += 1) pacer.add(item);
  expect(done).toEqual([]);
  let turns = 0;
  for (; done.length < 12; turns += 1) await turn();
  // Of 2 ms each, no more than three fit into a turn.
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(done).toEqual([...done].sort((a, b) => a - b));
});

test("an item that adds another does not starve the event loop", async () => {
  let runs = 0;
  const pacer = new Pacer<void>(() => {
    runs += 1;
    if (runs < 5) pacer.add();
  }, 0);
  pacer.add();
  await turn();
  expect(runs).toBe(1);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(runs).toBe(5);
});
