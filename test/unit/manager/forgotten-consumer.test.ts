import type { Session } from "@unacked/broker";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ForgottenConsumer } from "../../../services/observer-manager/src/adapters/amqp/deliveries/forgotten-consumer.ts";

let depth = 0;
let isIdle = true;
let ended: string[] = [];
let lost = new AbortController();
let watch: ForgottenConsumer;

beforeEach(() => {
  vi.useFakeTimers();
  [depth, isIdle, ended, lost] = [0, true, [], new AbortController()];
  watch = new ForgottenConsumer("q", () => isIdle);
  const session = {
    inspect: () => Promise.resolve({ messageCount: depth, consumerCount: 1 }),
    end: (why: string) => {
      ended.push(why);
      lost.abort();
    },
    lost: lost.signal,
  };
  watch.begin(session as unknown as Session);
});
afterEach(() => {
  watch.end();
  vi.useRealTimers();
});

test("a queue that has messages, and gives nobody any for 20 s, costs the session", async () => {
  depth = 3;
  await vi.advanceTimersByTimeAsync(21_000);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ended).toEqual(["q has 3 messages and gives nobody any: a partition may have made it forget"]);
});

test("more that come do not hide it", async () => {
  for (let s = 0; s < 30; s += 1) {
    depth += 1;
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(ended).toHaveLength(1);
});

test("an empty queue, one that somebody takes from, deliveries, and work in hand do not", async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  for (depth = 100; depth > 40; depth -= 1) await vi.advanceTimersByTimeAsync(1_000);
  for (let s = 0; s < 60; s += 10) {
    watch.delivered();
    await vi.advanceTimersByTimeAsync(10_000);
  }
  isIdle = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ended).toEqual([]);
});
