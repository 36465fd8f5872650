import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TimerFirer } from "../../../services/observer-manager/src/operations/timers/timer-firer.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;

test("A claim that was lost is let go of also where the broker is away for longer than one can come to light; and then no more", async () => {
  const done: string[] = [];
  let isLost = true;
  let isDue = true;
  const store = {
    async claim() {
      done.push("claim");
      if (!isLost) {
        isDue = false;
        return { due: [], expired: 0 };
      }
      isLost = false;
      throw new Error("Connection terminated unexpectedly");
    },
    async disown() {
      done.push("disown");
    },
    nextDueInMs: async () => (isDue ? 0 : null),
  };
  let away: Promise<void> = Promise.resolve();
  const sender = { ready: () => away };
  const firer = new TimerFirer({ owner: "o", tries: "first", store, sender, tally: { expired() {} }, log } as never);
  firer.start();
  await vi.advanceTimersByTimeAsync(0);
  expect(done).toEqual(["claim"]);
  let isBack = (): void => undefined;
  away = new Promise((resolve) => {
    isBack = resolve;
  });
  await vi.advanceTimersByTimeAsync(120_000);
  expect(done).toEqual(["claim"]);
  isBack();
  await vi.advanceTimersByTimeAsync(0);
  expect(done).toEqual(["claim", "disown", "claim"]);
  firer.wake();
  await vi.advanceTimersByTimeAsync(0);
  expect(done).toEqual(["claim", "disown", "claim", "claim"]);
  await firer.stop();
});

test("What is due and locked by somebody is looked at ten times a second, and claimed soon after that", async () => {
  let claims = 0;
  let isLocked = true;
  let isDue = true;
  const store = {
    async claim() {
      claims += 1;
      isDue = isLocked;
      return { due: [], expired: isLocked ? 0 : 1 };
    },
    nextDueInMs: async () => (isDue ? -1 : null),
  };
  const sender = { ready: async () => undefined };
  const firer = new TimerFirer({ owner: "o", tries: "first", store, sender, tally: { expired() {} }, log } as never);
  firer.start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(claims).toBeGreaterThan(90);
  expect(claims).toBeLessThan(110);
  isLocked = false;
  await vi.advanceTimersByTimeAsync(110);
  expect(isDue).toBe(false);
  await firer.stop();
});

test("What is on its way is waited for by one that ends, and written: else it would be fired again", async () => {
  const written: unknown[] = [];
  let isClaimed = false;
  const store = {
    async claim() {
      const due = isClaimed ? [] : [{ id: "t", payload: "1", lateMs: 0 }];
      isClaimed = true;
      return { due, expired: 0 };
    },
    nextDueInMs: async () => (isClaimed ? null : 0),
    finish: async (claims: { fired: string[] }[]) => void written.push(...claims.map(({ fired }) => fired)),
  };
  let confirm: (outcome: string) => void = () => undefined;
  const sender = { ready: async () => undefined, send: () => new Promise((resolve) => (confirm = resolve)) };
  const firer = new TimerFirer({ owner: "o", store, sender, tally: { expired() {}, tried() {} }, log } as never);
  firer.start();
  await vi.advanceTimersByTimeAsync(0);
  let isStopped = false;
  const stopped = firer.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(1_000);
  expect([isStopped, written]).toEqual([false, []]);
  confirm("fired");
  vi.useRealTimers();
  await stopped;
  expect(written).toEqual([["t"]]);
});
