import { afterEach, expect, test, vi } from "vitest";
import type { Log } from "../../../services/observer-manager/src/operations/log.ts";
import { ScheduleFirer } from "../../../services/observer-manager/src/operations/schedules/schedule-firer.ts";
import type {
  Fired,
  ScheduleFiringStore,
} from "../../../services/observer-manager/src/operations/schedules/schedule-store.ts";
import type { ScheduleTally } from "../../../services/observer-manager/src/operations/tally.ts";

afterEach(() => vi.useRealTimers());

const NONE: Fired = {
  ...{ occurrences: [], created: 0, cancelled: 0, over: [], refuse: [], claimed: 0, decided: 0, putOff: [], problems: [] },
};

/** With something queued; each question takes so long. */
function firerOf(askMs: number) {
  const looksMs: number[] = [];
  const answer = <Value>(value: Value) =>
    new Promise<Value>((resolve) => {
      setTimeout(() => resolve(value), askMs);
    });
  const store = {
    ahead: () => answer({ dueInMs: null, isAnyQueued: true }),
    startQueued: () => {
      looksMs.push(performance.now());
      return answer(NONE);
    },
  } as unknown as ScheduleFiringStore;
  const log = { warn: vi.fn() } as unknown as Log;
  const tally = { decided: vi.fn() } as unknown as ScheduleTally;
  const firer = new ScheduleFirer({ store, wakeTasks: vi.fn(), cancelled: vi.fn(), tally, log });
  return { firer, looksMs };
}

/** What it asks meanwhile is answered. */
async function stopped(firer: ScheduleFirer): Promise<void> {
  const stops = firer.stop();
  await vi.advanceTimersByTimeAsync(100);
  await stops;
}

test("Whether what is queued may start is asked each second, however long the question takes", async () => {
  vi.useFakeTimers();
  const { firer, looksMs } = firerOf(40);
  firer.start();
  await vi.advanceTimersByTimeAsync(10_500);
  await stopped(firer);
  expect(looksMs.length).toBeGreaterThanOrEqual(10);
  expect(looksMs.length).toBeLessThanOrEqual(12);
});

test("As tasks end it is asked soon, five times a second at most", async () => {
  vi.useFakeTimers();
  const { firer, looksMs } = firerOf(1);
  firer.start();
  await vi.advanceTimersByTimeAsync(1_000);
  const endedMs = performance.now() + 300;
  await vi.advanceTimersByTimeAsync(300);
  firer.tasksEnded();
  await vi.advanceTimersByTimeAsync(250);
  expect(looksMs.at(-1)).toBeGreaterThanOrEqual(endedMs);
  const before = looksMs.length;
  for (let i = 0; i < 1_000; i += 1) {
    firer.tasksEnded();
    await vi.advanceTimersByTimeAsync(2);
  }
  await stopped(firer);
  expect(looksMs.length - before).toBeGreaterThanOrEqual(8);
  expect(looksMs.length - before).toBeLessThanOrEqual(12);
});
