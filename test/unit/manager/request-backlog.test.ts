import type { Session } from "@unacked/broker";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RequestBacklog } from "../../../services/observer-manager/src/adapters/amqp/requests/request-backlog.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

test("What stood in the queue when it is read first, and after it was held up, is known as such, and no more", async () => {
  let inQueue = 2;
  const backlog = new RequestBacklog({ inspect: async () => ({ messageCount: inQueue }) } as unknown as Session);
  const read = async (count: number, tookMs = 0) => {
    const stood: boolean[] = [];
    await backlog.read(count, async () => {
      for (let i = 0; i < count; i += 1) stood.push(backlog.take());
      vi.advanceTimersByTime(tookMs);
    });
    return stood;
  };
  expect(await read(1)).toEqual([true]);
  inQueue = 100;
  expect(await read(3)).toEqual([true, true, false]);
  expect(await read(1, 5_000)).toEqual([false]);
  inQueue = 1;
  expect(await read(1)).toEqual([true]);
  inQueue = 100;
  expect(await read(2)).toEqual([true, false]);
});
