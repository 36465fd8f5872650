import { getEventListeners } from "node:events";
import { backoff, isObserverStopped, ObserverStopped, sleep, untilAborted } from "@unacked/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("sleep resolves true after its time, and leaves neither timer nor listener", async () => {
  const { signal } = new AbortController();
  const removed = vi.spyOn(signal, "removeEventListener");
  const slept = sleep(500, signal);
  await vi.advanceTimersByTimeAsync(500);
  expect(await slept).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  expect(removed).toHaveBeenCalledOnce();
});

test("sleep resolves false at the abort, and at once when it came before", async () => {
  const abort = new AbortController();
  const slept = sleep(500, abort.signal);
  abort.abort(new ObserverStopped("stopped"));
  expect(await slept).toBe(false);
  expect(await sleep(500, abort.signal)).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

test("sleep for forty days does not fire at once, as a bare timer would", async () => {
  const fortyDaysMs = 40 * 86_400_000;
  let woke = false;
  void sleep(fortyDaysMs, new AbortController().signal).then(() => {
    woke = true;
  });
  await vi.advanceTimersByTimeAsync(fortyDaysMs - 1);
  expect(woke).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(woke).toBe(true);
});

test("sleep for less than nothing is over at once, as where a look took longer than the time between two", async () => {
  const slept = sleep(-1, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(1);
  expect(await slept).toBe(true);
  expect(await sleep(-1, AbortSignal.abort())).toBe(false);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("sleep(%d) is refused", async (ms) => {
  await expect(sleep(ms, new AbortController().signal)).rejects.toMatchObject({ code: "invalid-option" });
});

test("sleep of a text is refused as one", async () => {
  const message = 'sleep takes milliseconds as a number, not "1000"';
  await expect(sleep("1000" as never, AbortSignal.abort())).rejects.toMatchObject({ code: "invalid-option", message });
});

test("untilAborted gives the reason, which tells a stop from a failure", async () => {
  const abort = new AbortController();
  const waiting = untilAborted(abort.signal);
  abort.abort(new ObserverStopped("draining"));
  const reason = await waiting;
  expect(isObserverStopped(reason)).toBe(true);
  const message = "its service is being drained, or ends: it begins again elsewhere";
  expect(reason).toMatchObject({ name: "ObserverStopped", code: "draining", message });
  expect(await untilAborted(abort.signal)).toBe(reason);
  expect(isObserverStopped(new Error("other"))).toBe(false);
});

test("However many wait for one signal, it has one listener, as more than ten would be taken for a leak", async () => {
  const abort = new AbortController();
  const listeners = () => getEventListeners(abort.signal, "abort").length;
  const sleeps = Array.from({ length: 11 }, (_, n) => sleep(n < 5 ? 100 : 500, abort.signal));
  expect(listeners()).toBe(1);
  await vi.advanceTimersByTimeAsync(100);
  expect(await Promise.all(sleeps.slice(0, 5))).toEqual(Array(5).fill(true));
  expect(listeners()).toBe(1);
  const waits = Array.from({ length: 11 }, () => untilAborted(abort.signal));
  expect(listeners()).toBe(1);
  abort.abort("gone");
  expect(await Promise.all(sleeps.slice(5))).toEqual(Array(6).fill(false));
  expect(await Promise.all(waits)).toEqual(Array(11).fill("gone"));
  expect(vi.getTimerCount()).toBe(0);
});

test("backoff grows to its limit, and starts over after a reset", () => {
  const pause = backoff({ initialMs: 100, factor: 3, maxMs: 1_000, jitter: 0 });
  expect([pause.nextMs(), pause.nextMs(), pause.nextMs(), pause.nextMs()]).toEqual([100, 300, 900, 1_000]);
  pause.reset();
  expect(pause.nextMs()).toBe(100);
});

test("backoff's jitter is a share to both sides", () => {
  const delayAt = (chance: number) => backoff({ initialMs: 100, jitter: 0.2, random: () => chance }).nextMs();
  expect([delayAt(0), delayAt(0.5), delayAt(1)]).toEqual([80, 100, 120]);
});

test("backoff refuses a factor below 1", () => {
  expect(() => backoff({ factor: 0.5 })).toThrow(expect.objectContaining({ code: "invalid-option" }));
});
