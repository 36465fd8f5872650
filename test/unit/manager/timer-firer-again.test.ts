import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TimerFirer } from "../../../services/observer-manager/src/operations/timers/timer-firer.ts";

/** Which vitest leaves as it is. */
vi.mock("node:timers/promises", () => ({
  setTimeout: (ms: number) => new Promise((resolve) => setTimeout(resolve, ms)),
}));
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("What nobody hears is tried again by a set each second; where one is heard, or expires, the next follow at once", async () => {
  const now = { outcome: "returned", expired: 0 };
  let sent = 0;
  const store = {
    nextDueInMs: async () => -1,
    async claim(_: object, limit: number, tries: string) {
      await wait(50);
      expect(tries).toBe("again");
      const timer = { id: "t", name: "n", payload: "1", atMs: 0, lateMs: 0 };
      return { due: Array.from({ length: limit - now.expired }, () => timer), expired: now.expired, isCut: false };
    },
    giveBack: () => wait(5),
    finish: () => wait(5),
  };
  const sender = {
    ready: async () => undefined,
    async send() {
      sent += 1;
      return now.outcome;
    },
  };
  const tally = { expired() {}, tried() {} };
  const firer = new TimerFirer({ owner: "o", tries: "again", store, sender, tally, log } as never);
  firer.start();
  const sentIn = async (ms: number) => {
    const before = sent;
    await vi.advanceTimersByTimeAsync(ms);
    return sent - before;
  };
  await sentIn(5_000);
  for (const _ of [1, 2]) {
    const count = await sentIn(10_000);
    expect(count).toBeGreaterThanOrEqual(4_000);
    expect(count).toBeLessThanOrEqual(5_000);
  }
  now.outcome = "fired";
  await sentIn(2_000);
  expect(await sentIn(1_000)).toBeGreaterThan(5_000);
  now.outcome = "returned";
  await sentIn(2_000);
  expect(await sentIn(10_000)).toBeLessThanOrEqual(5_000);
  now.expired = 1;
  await sentIn(2_000);
  expect(await sentIn(1_000)).toBeGreaterThan(5_000);
  const over = firer.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  await over;
});
