import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Backlogs } from "../../../services/observer-manager/src/operations/tasks/backlogs.ts";

let ready: number;
let counts: number;
let backlogs: Backlogs;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  [ready, counts] = [100, 0];
  backlogs = new Backlogs({
    countReady: (_pool, _type, atMost) => {
      counts += 1;
      return Promise.resolve(Math.min(ready, atMost));
    },
  });
});
afterEach(() => void vi.useRealTimers());

const left = (type = "work") => backlogs.of("default", type, 80);

test("what waits is counted four times a second at most, and less what is claimed meanwhile", async () => {
  expect(await left()).toBe(80);
  backlogs.claimed("default", "work", 30);
  expect(await left()).toBe(50);
  vi.advanceTimersByTime(249);
  expect([await left(), counts]).toEqual([50, 1]);
  vi.advanceTimersByTime(1);
  expect([await left(), counts]).toEqual([80, 2]);
});

test("each type is counted for itself", async () => {
  await left();
  backlogs.claimed("default", "work", 30);
  expect([await left("other"), await left()]).toEqual([80, 50]);
});

test("where none are left there may be new ones: it is counted again", async () => {
  await left();
  backlogs.claimed("default", "work", 80);
  ready = 7;
  expect(await left()).toBe(7);
  ready = 0;
  backlogs.claimed("default", "work", 7);
  expect([await left(), await left(), counts]).toEqual([0, 0, 4]);
});
