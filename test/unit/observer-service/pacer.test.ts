import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { Pacer } from "../../../services/observer-service/src/pacer.ts";

test("tasks run in order, a slice per turn of the event loop", async () => {
  const pacer = new Pacer(20);
  const done: number[] = [];
  for (let task = 0; task < 50; task += 1) pacer.add(() => done.push(task));
  const afterEachTurn = [];
  for (let turns = 0; turns < 4; turns += 1) {
    afterEachTurn.push(done.length);
    await turn();
  }
  expect(afterEachTurn).toEqual([0, 20, 40, 50]);
  expect(done).toEqual([...done].sort((a, b) => a - b));
});

test("a task that adds another does not starve the event loop", async () => {
  const pacer = new Pacer(1);
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
