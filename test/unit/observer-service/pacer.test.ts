import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Pacer } from "../../../services/observer-service/src/pacer.ts";

test("tasks run in order, a slice of some milliseconds per turn of the event loop", async () => {
  const pacer = new Pacer(5);
  const done: number[] = [];
  const busyFor = (ms: number) => {
    for (const endMs = performance.now() + ms; performance.now() < endMs; );
  };
  for (let task = 0; task < 12; task += 1) pacer.add(() => busyFor(2) ?? done.push(task));
  expect(done).toEqual([]);
  let turns = 0;
  for (; done.length < 12; turns += 1) await turn();
  // Of 2 ms each, no more than three fit into a turn.
  expect(turns).toBeGreaterThanOrEqual(4);
  expect(done).toEqual([...done].sort((a, b) => a - b));
});

test("a task that adds another does not starve the event loop", async () => {
  const pacer = new Pacer(0);
  let runs = 0;
  const again = () => {
    runs += 1;
    if (runs < 5) pacer.add(again);
  };
  pacer.add(again);
  await turn();
  expect(runs).toBe(1);
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(runs).toBe(5);
});
