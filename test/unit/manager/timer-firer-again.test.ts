import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TimerFirer } from "../../../services/observer-manager/src/operations/timers/timer-firer.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const SETS_MS = 50;

/** How many are sent in so long, where there is always more to try again. @param expired of each set */
async function sentIn(ms: number, outcome: string, expired: number): Promise<number> {
  let sent = 0;
  const store = {
    nextDueInMs: async () => -1,
    async claim(_: object, limit: number, tries: string) {
      await new Promise((resolve) => setTimeout(resolve, SETS_MS));
      expect(tries).toBe("again");
      const timer = { id: "t", name: "n", payload: "1", atMs: 0, lateMs: 0 };
      return { due: Array.from({ length: limit - expired }, () => timer), expired, isCut: false };
    },
    giveBack: async () => undefined,
    fired: async () => undefined,
    finish: async () => undefined,
  };
  const send = async () => {
    sent += 1;
    return outcome;
  };
  const sender = { ready: async () => undefined, send };
  const tally = { expired() {}, tried() {} };
  const firer = new TimerFirer({ owner: "o", tries: "again", store, sender, tally, log } as never);
  firer.start();
  await vi.advanceTimersByTimeAsync(ms);
  void firer.stop();
  return sent;
}

// No more than what is in flight at once, as what is given back is so by a clock of its own.
test("What nobody hears is tried again by a set of 500 a second", async () => {
  const sent = await sentIn(4_500, "returned", 0);
  expect(sent).toBeGreaterThanOrEqual(2_000);
  expect(sent).toBeLessThanOrEqual(2_500);
});

test.each([
  ["is heard", "fired", 0],
  ["expires", "returned", 1],
] as const)("Where one of a set %s, the next one follows at once", async (_, outcome, expired) => {
  expect(await sentIn(1_000, outcome, expired)).toBeGreaterThan(2_700);
});
