import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TimerFirer } from "../../../services/observer-manager/src/operations/timers/timer-firer.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const SETS_MS = 50;

/** How many sets are claimed in so long, where there is always more to try again. @param heard of each set @param expired of each set */
async function setsIn(ms: number, heard: number, expired: number): Promise<number> {
  let sets = 0;
  const store = {
    nextDueInMs: async () => -1,
    async claim(_: object, limit: number, tries: string) {
      await new Promise((resolve) => setTimeout(resolve, SETS_MS));
      expect(tries).toBe("again");
      sets += 1;
      const due = Array.from({ length: limit - expired }, (_, i) => ({
        id: i < heard ? "heard" : "unheard",
        name: "n",
        payload: "1",
        atMs: 0,
        lateMs: 0,
      }));
      return { due, expired, isCut: false };
    },
    giveBack: async () => undefined,
    fired: async () => undefined,
    finish: async () => undefined,
  };
  const send = async ({ id }: { id: string }) => (id === "heard" ? "fired" : "returned");
  const sender = { ready: async () => undefined, send };
  const tally = { expired() {}, tried() {} };
  const firer = new TimerFirer({ owner: "o", tries: "again", store, sender, tally, log } as never);
  firer.start();
  await vi.advanceTimersByTimeAsync(ms);
  void firer.stop();
  return sets;
}

// No more than what is in flight at once, as what is given back is so by a clock of its own.
test.each([
  ["nobody hears", 0, 0],
  ["nobody hears, but for one of each set,", 1, 0],
  ["nobody hears, while one of each set expires,", 0, 1],
])("What %s is tried again by a set of 500 a second", async (_, heard, expired) => {
  const sets = await setsIn(4_500, heard, expired);
  expect(sets).toBeGreaterThanOrEqual(4);
  expect(sets).toBeLessThanOrEqual(5);
});

test("Of what is heard by half twice as many are tried", async () => {
  const sets = await setsIn(2_000, 250, 0);
  expect(sets).toBeGreaterThanOrEqual(4);
  expect(sets).toBeLessThanOrEqual(5);
});

test.each([
  ["are heard", 500, 0],
  ["are heard, but for a few,", 490, 0],
  ["expire", 0, 500],
  ["expire, but for one,", 0, 499],
])("Where those of a set %s, the next one follows at once", async (_, heard, expired) => {
  expect(await setsIn(1_000, heard, expired)).toBeGreaterThanOrEqual(6);
});
