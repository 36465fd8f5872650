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

/** Let go of, it holds nothing. */
function longOf(length: number): Delivery {
  const delivery = { body: { length }, shed: () => void (delivery.body = { length: 0 }) };
  return delivery as unknown as Delivery;
}

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

/** A reader with so many in hand, of that length each. */
async function readerWith({ inHand, length }: { inHand: number; length: number }) {
  const batches: { deliveries: Delivery[]; handled(): void }[] = [];
  const handle = (deliveries: Delivery[]) =>
    new Promise<void>((resolve) => void batches.push({ deliveries, handled: resolve }));
  const reader = new QueueReader({ queue: "q", prefetch: 400, maxBatch: 200, handle });
  const { seen, session } = newSession();
  await reader.begin(session);
  seen.give(longOf(length));
  batches[0]?.deliveries[0]?.shed();
  for (let i = 0; i < inHand; i += 1) seen.give(longOf(length));
  batches[0]?.handled();
  const held = await vi.waitFor(() => batches[1]?.deliveries ?? Promise.reject(new Error("it has not come")));
  expect(held).toHaveLength(inHand);
  return { seen, held };
}

test("What is in hand is in memory, too", async () => {
  const { seen } = await readerWith({ inHand: 16, length: 8_388_608 });
  expect(seen.ended).toEqual([]);
  for (let i = 0; i < 16; i += 1) seen.give(longOf(8_388_608));
  expect(seen.ended).toEqual([expect.stringContaining("128 MiB")]);
});

test("What is in hand, and was let go of as it was settled, is none of it: honest messages that come for it are taken", async () => {
  const { seen, held } = await readerWith({ inHand: 200, length: 262_144 });
  for (const delivery of held.slice(0, 190)) delivery.shed();
  for (let i = 0; i < 390; i += 1) seen.give(longOf(262_144));
  expect(seen.ended).toEqual([]);
});
