import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RateLimits } from "../../../services/observer-manager/src/adapters/http/server/rate-limits.ts";

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const countsOf = async (limits: RateLimits, times: number) => {
  const counts: (number | undefined)[] = [];
  for (let i = 0; i < times; i += 1) counts.push(await limits.countFailure("192.0.2.1"));
  return counts;
};

test("one is told to wait for what is left of the minute, and may come again then", async () => {
  const limits = new RateLimits({ requestsPerMinute: 0, failuresPerMinute: 2 });
  vi.advanceTimersByTime(10_000);
  expect(await countsOf(limits, 2)).toEqual([undefined, undefined]);
  vi.advanceTimersByTime(20_000);
  expect(await countsOf(limits, 1)).toEqual([40]);
  vi.advanceTimersByTime(40_000);
  expect(await countsOf(limits, 1)).toEqual([undefined]);
});

test("where the clock is put back nobody waits until it has caught up", async () => {
  const limits = new RateLimits({ requestsPerMinute: 0, failuresPerMinute: 2 });
  expect(await countsOf(limits, 3)).toEqual([undefined, undefined, 60]);
  vi.setSystemTime(Date.now() - 6 * HOUR_MS);
  expect(await countsOf(limits, 3)).toEqual([undefined, undefined, 60]);
});
