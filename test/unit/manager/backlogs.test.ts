import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Backlogs } from "../../../services/observer-manager/src/operations/tasks/dispatch/backlogs.ts";

let ready: number;
let counts: number;
let backlogs: Backlogs;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  [ready, counts] = [79, 0];
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
  expect(await left()).toBe(79);
  backlogs.claimed("default", "work", 30);
  expect(await left()).toBe(49);
  vi.advanceTimersByTime(249);
  expect([await left(), counts]).toEqual([49, 1]);
  vi.advanceTimersByTime(1);
  expect([await left(), counts]).toEqual([79, 2]);
});

test("each type is counted for itself", async () => {
  await left();
  backlogs.claimed("default", "work", 30);
  expect([await left("other"), await left()]).toEqual([79, 49]);
});

test("of many it is not known how many", async () => {
  ready = 80;
  expect(await left()).toBe(Number.POSITIVE_INFINITY);
  backlogs.claimed("default", "work", 80);
  expect([await left(), counts]).toEqual([Number.POSITIVE_INFINITY, 1]);
});

test("where none are left there may be new ones: it is counted again", async () => {
  await left();
  backlogs.claimed("default", "work", 79);
  ready = 7;
  expect(await left()).toBe(7);
  ready = 0;
  backlogs.claimed("default", "work", 7);
  expect([await left(), await left(), counts]).toEqual([0, 0, 4]);
});
