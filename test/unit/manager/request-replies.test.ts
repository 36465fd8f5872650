import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { afterEach, expect, test, vi } from "vitest";
import { RequestReplies } from "../../../services/observer-manager/src/adapters/amqp/requests/request-replies.ts";

interface Open {
  key: string;
  confirm(): void;
  reject(code: PublishError["code"]): void;
}

/** Replies, and what is open of them at the broker. */
function replying() {
  const open: Open[] = [];
  const lost = new AbortController();
  const publish = ({ routingKey: key, messageId }: Outgoing) =>
    new Promise<void>((resolve, reject) => {
      open.push({ key, confirm: resolve, reject: (code) => reject(new PublishError(code, messageId, "not taken")) });
    });
  const publisher = { writable: async () => {}, publish } as unknown as Publisher;
  const replies = new RequestReplies(publisher, "a manager", { debug() {} } as never);
  const send = (key: string) => replies.send({ key, status: 200, type: "TaskBatchResults", json: "{}" }, "c", lost.signal);
  const sendMany = (count: number, keyOf: (i: number) => string) =>
    Promise.all(Array.from({ length: count }, (_, i) => send(keyOf(i))));
  /** Those that are open, once all that can be is. */
  const taken = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return open.splice(0);
  };
  return { sendMany, taken, lost };
}

/** How many were told, and how many were not. */
const counted = (told: boolean[]) => ({ told: told.filter(Boolean).length, dropped: told.filter((one) => !one).length });

test("Of a user so few answers are open that the broker reads those of others, though its queue confirms nothing", async () => {
  const { sendMany, taken } = replying();
  const stuck = sendMany(33, (i) => `stuck.${i}`);
  const other = sendMany(17, () => "other.queue");
  const others: boolean[] = [];
  void other.then((told) => others.push(...told));
  const held: Open[] = [];
  for (let open = await taken(); open.length > 0; open = await taken()) {
    held.push(...open.filter(({ key }) => key.startsWith("stuck.")));
    for (const { key, confirm } of open) if (key.startsWith("other.")) confirm();
  }
  expect(held.length).toBeLessThanOrEqual(32); // RabbitMQ reads no more behind more of one quorum queue
  expect(counted(others)).toEqual({ told: 17, dropped: 0 });
  for (const { reject } of held) reject("too-late");
  expect(counted(await stuck)).toEqual({ told: 0, dropped: 33 });
  expect(await taken()).toEqual([]); // another ten seconds would hold up everybody
});

afterEach(() => vi.useRealTimers());

test("Where nothing was confirmed in time nothing is sent for a minute, as everybody would wait for it; other keys go on", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { sendMany, taken } = replying();
  const first = sendMany(2, (i) => ["shop.stuck", "shop.other"][i] ?? "");
  const [stuck, other] = await taken();
  vi.advanceTimersByTime(1);
  other?.confirm();
  await Promise.resolve();
  stuck?.reject("too-late");
  expect(await first).toEqual([false, true]);
  expect(await sendMany(3, () => "shop.stuck")).toEqual([false, false, false]);
  for (const [key, afterMs] of [["shop.other", 0] as const, ["shop.stuck", 60_001] as const]) {
    vi.advanceTimersByTime(afterMs);
    const next = sendMany(1, () => key);
    for (const { confirm } of await taken()) confirm();
    expect(await next).toEqual([true]);
  }
});

test("A user whose queue confirms nothing costs the others its time once, also with a new key for each answer; his queues that work go on", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { sendMany, taken } = replying();
  const confirmed = async (all: Promise<boolean[]>): Promise<boolean[]> => {
    let isOver = false;
    void all.then(() => (isOver = true));
    while (!isOver) for (const { confirm } of await taken()) confirm();
    return await all;
  };
  const first = sendMany(1, () => "shop.new");
  const [stuck] = await taken();
  vi.advanceTimersByTime(1);
  expect(await confirmed(sendMany(2, (i) => ["shop.works", "other.queue"][i] ?? ""))).toEqual([true, true]);
  stuck?.reject("too-late");
  expect(await first).toEqual([false]);
  expect(await confirmed(sendMany(3, (i) => `shop.new-${i}`))).toEqual([false, false, false]);
  expect(await confirmed(sendMany(2, (i) => ["shop.works", "other.new"][i] ?? ""))).toEqual([true, true]);
  vi.advanceTimersByTime(60_001);
  expect(await confirmed(sendMany(1, () => "shop.new-1"))).toEqual([true]);
});

test("Where a broker stands still and confirms nothing of anybody, what comes again is answered", async () => {
  const { sendMany, taken } = replying();
  const keyOf = (i: number) => ["shop.queue", "other.queue"][i] ?? "";
  const first = sendMany(2, keyOf);
  for (const { reject } of await taken()) reject("too-late");
  expect(await first).toEqual([false, false]);
  const again = sendMany(2, keyOf);
  for (const { confirm } of await taken()) confirm();
  expect(await again).toEqual([true, true]);
});

test("That no queue takes an answer says nothing of those that wait behind it, for another of the user's queues", async () => {
  const { sendMany, taken } = replying();
  const all = sendMany(50, (i) => (i % 2 === 0 ? "shop.gone" : "shop.there"));
  for (let open = await taken(); open.length > 0; open = await taken())
    for (const { key, confirm, reject } of open) {
      if (key === "shop.there") confirm();
      else reject("returned");
    }
  expect(counted(await all)).toEqual({ told: 25, dropped: 25 });
});

test("What the connection took with it is sent again, also what had waited", async () => {
  const { sendMany, taken } = replying();
  const all = sendMany(40, () => "shop.queue");
  for (const { reject } of await taken()) reject("lost");
  for (let open = await taken(); open.length > 0; open = await taken()) for (const { confirm } of open) confirm();
  expect(counted(await all)).toEqual({ told: 40, dropped: 0 });
});

test("Where the requests come again nothing waits for its place", async () => {
  const { sendMany, taken, lost } = replying();
  const all = sendMany(40, () => "shop.queue");
  const open = await taken();
  lost.abort(new Error("lost"));
  for (const { reject } of open) reject("unwanted");
  await expect(all).rejects.toThrow("lost");
  expect(await taken()).toEqual([]);
});
