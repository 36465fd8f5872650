import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Loop, untilDue, untilNext } from "../../../services/observer-manager/src/operations/loop.ts";

const MINUTE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** A loop whose rounds end when the test says so. */
function loopOf() {
  const rounds: PromiseWithResolvers<number>[] = [];
  const failures: unknown[] = [];
  const loop = new Loop({
    round() {
      const { promise, resolve, reject } = deferred();
      rounds.push({ promise, resolve, reject });
      return promise;
    },
    failed(error) {
      failures.push(error);
      return MINUTE_MS;
    },
  });
  return { loop, rounds, failures };
}

function deferred(): PromiseWithResolvers<number> {
  let resolve: PromiseWithResolvers<number>["resolve"] = () => undefined;
  let reject: PromiseWithResolvers<number>["reject"] = () => undefined;
  const promise = new Promise<number>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve, reject };
}

describe("a loop", () => {
  test("does one round after the other, each when the one before said, and never two at a time", async () => {
    const { loop, rounds } = loopOf();
    loop.start(1_000);
    await vi.advanceTimersByTimeAsync(999);
    expect(rounds).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(rounds).toHaveLength(1);
    rounds[0]?.resolve(500);
    await vi.advanceTimersByTimeAsync(499);
    expect(rounds).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(rounds).toHaveLength(2);
    rounds[1]?.resolve(0);
    await turn();
    expect(rounds).toHaveLength(3);
  });

  test("is woken out of its pause, also by a wake that came in the middle of the round, once", async () => {
    const { loop, rounds } = loopOf();
    loop.start();
    await turn();
    rounds[0]?.resolve(Number.POSITIVE_INFINITY);
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect(rounds).toHaveLength(1);
    loop.wake();
    await turn();
    expect(rounds).toHaveLength(2);
    expect([loop.takeWake(), loop.takeWake()]).toEqual([true, false]);
    loop.wake();
    rounds[1]?.resolve(MINUTE_MS);
    await turn();
    expect(rounds).toHaveLength(3);
  });

  test("goes on after a failure, when that says", async () => {
    const { loop, rounds, failures } = loopOf();
    loop.start();
    await turn();
    rounds[0]?.reject(new Error("away"));
    await vi.advanceTimersByTimeAsync(MINUTE_MS - 1);
    expect([failures.length, rounds.length]).toEqual([1, 1]);
    await vi.advanceTimersByTimeAsync(1);
    expect(rounds).toHaveLength(2);
  });

  test("that is stopped begins no round, and is over when the one under way is", async () => {
    const { loop, rounds, failures } = loopOf();
    loop.start();
    loop.start();
    await turn();
    let isOver = false;
    loop.stop();
    void loop.over.then(() => (isOver = true));
    await turn();
    expect([isOver, loop.signal.aborted]).toEqual([false, true]);
    rounds[0]?.reject(new Error("as it was stopped"));
    await loop.over;
    loop.wake();
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    expect([rounds.length, failures.length]).toEqual([1, 0]);
  });

  test("that is stopped in its pause is over at once, and one that never began is", async () => {
    const { loop, rounds } = loopOf();
    await loop.over;
    loop.start(MINUTE_MS);
    loop.stop();
    await loop.over;
    expect(rounds).toHaveLength(0);
  });
});

test("loops that look each few seconds meet, also where a timer comes too early", () => {
  expect(10_000.4 + untilNext(1_000, 10_000.4)).toBeCloseTo(11_000);
  expect(10_700 + untilNext(1_000, 10_700)).toBeCloseTo(11_000);
  expect(10_700 + untilNext(2_000, 10_700)).toBeCloseTo(12_000);
  expect(10_999.2 + untilNext(1_000, 10_999.2)).toBeCloseTo(12_000);
});

test("a look is no later than what is due, and not just before it", () => {
  expect(untilDue(0.2, 1_000_000)).toBe(2);
  expect(untilDue(-5, 1_000_000)).toBe(1);
  expect(untilDue(null, 1_000)).toBeLessThanOrEqual(1_005);
  expect(untilDue(60_000, 1_000)).toBeLessThanOrEqual(1_005);
});
