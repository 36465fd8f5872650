import type { Delivery, Session } from "@unacked/broker";
import { expect, test, vi } from "vitest";
import { QueueReader } from "../../../services/observer-manager/src/adapters/amqp/deliveries/queue-reader.ts";

interface Seen {
  prefetch: number;
  ended: string[];
  give(delivery: Delivery): void;
}

/** A session, and what becomes of it. */
function newSession() {
  const lost = new AbortController();
  const seen = { prefetch: 0, ended: [], give: (): void => undefined } as Seen;
  const consume = async (_: string, { prefetch }: { prefetch: number }, give: (delivery: Delivery) => void) =>
    void Object.assign(seen, { prefetch, give });
  const end = (why: string): void => {
    seen.ended.push(why);
    lost.abort();
  };
  const inspect = async () => ({ messageCount: 0, consumerCount: 1 });
  return { seen, session: { lost: lost.signal, consume, end, inspect } as unknown as Session };
}

const longOf = (length: number) => ({ body: { length } }) as unknown as Delivery;

test("Where what waits is far too long together, it begins again and takes few ahead, and after a while as many as before", async () => {
  vi.useFakeTimers();
  const never = new Promise<void>(() => undefined);
  const reader = new QueueReader({ queue: "q", prefetch: 400, maxBatch: 200, handle: () => never });
  const [first, second, third] = [newSession(), newSession(), newSession()];
  await reader.begin(first.session);
  // One is in hand, and the others wait.
  for (let i = 0; i < 400; i += 1) first.seen.give(longOf(262_144));
  expect([first.seen.prefetch, first.seen.ended]).toEqual([400, []]);
  for (let i = 0; i < 10; i += 1) first.seen.give(longOf(8_388_608));
  expect(first.seen.ended).toEqual([expect.stringContaining("128 MiB")]);

  await reader.begin(second.session);
  for (let i = 0; i < 16; i += 1) second.seen.give(longOf(8_388_608));
  expect([second.seen.prefetch, second.seen.ended]).toEqual([16, []]);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(second.seen.ended).toHaveLength(1);
  await reader.begin(third.session);
  expect(third.seen.prefetch).toBe(400);
  vi.useRealTimers();
});
