import { DEFAULT_RETRY, nextRetryDelayMs, type RetryPolicy } from "@unacked/contracts";
import { expect, test } from "vitest";

const delays = (policy: Partial<RetryPolicy>, count = 12) =>
  Array.from({ length: count }, (_, i) => nextRetryDelayMs({ ...DEFAULT_RETRY, ...policy }, i + 1, 0.5));

test("Who is to be tried again at once is, three times in a row; then there are pauses, which are never a hot loop", () => {
  const paused = [0, 0, 0, 100, 100, 100, 100, 100, 100, 100, 1_000, 1_000];
  expect(delays({ delaysMs: [0] })).toEqual(paused);
  expect(delays({ delaysMs: { initialMs: 0, factor: 2, maxMs: 300_000, jitter: 0.2 } })).toEqual(paused);
});

test("Whose attempts are given back at once is paused from the first failure on", () => {
  expect(delays({ delaysMs: [0], resetAfterMs: 0 }, 1)).toEqual([100]);
});

test("A policy that has pauses keeps them", () => {
  expect(delays({ delaysMs: [500, 1_000, 60_000] }, 3)).toEqual([500, 1_000, 60_000]);
  expect(delays({}, 3)).toEqual([1_000, 2_000, 4_000]);
});
