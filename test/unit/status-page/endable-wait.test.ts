import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EndableWait } from "../../../services/status-page/src/live/endable-wait.ts";

let waits: EndableWait;

beforeEach(() => {
  vi.useFakeTimers();
  waits = new EndableWait();
});
afterEach(() => void vi.useRealTimers());

/** Of one that begins now: how long it takes. */
async function lastsMs(soonestMs: number, latestMs: number, endedAfterMs?: number): Promise<number> {
  const begunMs = Date.now();
  const over = waits.wait({ soonestMs, latestMs }).then(() => Date.now() - begunMs);
  if (endedAfterMs !== undefined) setTimeout(() => waits.end(), endedAfterMs);
  await vi.advanceTimersByTimeAsync(60_000);
  return over;
}

test("It takes its time, unless it is ended", async () => {
  expect(await lastsMs(0, 15_000)).toBe(15_000);
  expect(await lastsMs(0, 15_000, 3_000)).toBe(3_000);
  expect(await lastsMs(0, 15_000)).toBe(15_000);
});

test("Ended, it takes as long as was asked for all the same", async () => {
  expect(await lastsMs(5_000, 15_000, 3_000)).toBe(5_000);
  expect(await lastsMs(20_000, 15_000)).toBe(20_000);
});

test("Ended before it began, it is over at once, and the next one is not", async () => {
  waits.end();
  expect(await lastsMs(0, 15_000)).toBeLessThan(10);
  expect(await lastsMs(0, 15_000)).toBe(15_000);
});
