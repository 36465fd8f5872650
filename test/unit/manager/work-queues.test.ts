import { RefusedError, type Session } from "@unacked/broker";
import { expect, onTestFinished, test, vi } from "vitest";
import { WorkQueues } from "../../../services/observer-manager/src/adapters/amqp/pools/work-queues.ts";

type Asked = { name: string; answer: { resolve(): void; reject(error: Error): void } };

/** A session that answers when it is told to. */
function session(generation: number) {
  const asked: Asked[] = [];
  const declareQueue = ({ name }: { name: string }) =>
    new Promise<void>((resolve, reject) => asked.push({ name, answer: { resolve, reject } }));
  const close = async () => undefined;
  const broker: { trouble?: string } = {};
  const inspect = async () => {
    if (broker.trouble !== undefined)
      throw new RefusedError("look at it", { kind: "channel-closed", detail: `404 NOT_FOUND - ${broker.trouble}` });
    return { messageCount: 0, consumerCount: 0 };
  };
  const openSideChannel = async () => ({ declareQueue, inspect, close });
  return { broker, asked, session: { generation, openSideChannel } as unknown as Session };
}

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** What was begun has come to where it waits for the broker. */
const turn = () => new Promise(setImmediate);

test("thousands of starts that need the same queue at once have it declared once", async () => {
  const { asked, session: one } = session(1);
  const queues = new WorkQueues(() => one, "classic", log);
  const starts = Array.from({ length: 2_000 }, () => queues.ensure("a"));
  const other = queues.ensure("b");
  await turn();
  expect(asked.map(({ name }) => name)).toEqual(["unacked.work.a", "unacked.work.b"]);
  for (const { answer } of asked) answer.resolve();
  await Promise.all([...starts, other, queues.ensure("a")]);
  expect(asked).toHaveLength(2);
});

test("one whose asking failed, that was forgotten or declared on another connection is declared again", async () => {
  let now = session(1);
  const queues = new WorkQueues(() => now.session, "classic", log);
  const refused = queues.ensure("a");
  await turn();
  now.asked[0]?.answer.reject(new Error("no"));
  await expect(refused).rejects.toThrow("no");
  const ensured = async () => {
    const before = now.asked.length;
    const done = queues.ensure("a");
    await turn();
    for (const { answer } of now.asked) answer.resolve();
    await done;
    return now.asked.length - before;
  };
  expect(await ensured()).toBe(1);
  expect(await ensured()).toBe(0);
  queues.forget("a");
  expect(await ensured()).toBe(1);
  now = session(2);
  expect(await ensured()).toBe(1);
});

test("one that is no longer wanted is not declared again, and has no troubles", async () => {
  const { asked, session: one } = session(1);
  const queues = new WorkQueues(() => one, "classic", log);
  const rounds = [["a", "b"], ["b"]].map((pools) => async () => {
    const kept = queues.keep(pools);
    await turn();
    for (const { answer } of asked) answer.resolve();
    await kept;
    return asked.splice(0).map(({ name }) => name);
  });
  expect([await rounds[0]?.(), await rounds[1]?.()]).toEqual([["unacked.work.a", "unacked.work.b"], ["unacked.work.b"]]);
  expect(queues.troubles).toEqual([]);
});

test("one that somebody deleted is declared again when those who consumed from it have been told, and not before", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { asked, broker, session: one } = session(1);
  const queues = new WorkQueues(() => one, "classic", log);
  const ensured = async () => {
    const done = queues.ensure("a").catch((error: unknown) => String(error));
    await turn();
    for (const { answer } of asked) answer.resolve();
    return done;
  };
  await ensured();
  queues.forget("a");
  broker.trouble = "home node 'rabbit@b' of durable queue 'unacked.work.a' is down or inaccessible";
  expect(await ensured()).toContain("home node");
  vi.advanceTimersByTime(1_000);
  broker.trouble = "no queue 'unacked.work.a' in vhost '/'";
  for (const passedMs of [0, 500, 1_000]) {
    vi.advanceTimersByTime(passedMs);
    expect(await ensured()).toContain("it was deleted");
    expect(queues.troubles).toMatchObject([{ pool: "a", remedy: expect.stringContaining("declared again") }]);
  }
  expect(asked).toHaveLength(1);
  vi.advanceTimersByTime(2_500);
  expect(await ensured()).toBeUndefined();
  expect(asked).toHaveLength(2);
  expect(queues.troubles).toEqual([]);
});

test("one that is out of reach is not gone, and its pool's trouble says why; one that was deleted is", async () => {
  for (const words of [
    "home node 'rabbit@b' of durable queue 'unacked.work.a' in vhost '/' is down or inaccessible",
    "queue 'unacked.work.a' in vhost '/' process is stopped by supervisor",
    "queue 'unacked.work.a' in vhost '/' has crashed and failed to restart",
  ]) {
    const { asked, broker, session: one } = session(1);
    const queues = new WorkQueues(() => one, "classic", log);
    const ensured = queues.ensure("a");
    await turn();
    for (const { answer } of asked) answer.resolve();
    await ensured;
    broker.trouble = words;
    await expect(queues.look("a")).rejects.toThrow(words);
    await expect(queues.remove("a", { ifEmpty: true })).rejects.toThrow(words);
    expect(await queues.depths(["a"])).toEqual([]);
    expect(queues.troubles, words).toMatchObject([{ pool: "a", detail: expect.stringContaining(words) }]);
    broker.trouble = "no queue 'unacked.work.a' in vhost '/'";
    expect(await queues.look("a")).toBe("gone");
    expect(await queues.remove("a", { ifEmpty: true })).toEqual({ kind: "gone" });
  }
});
