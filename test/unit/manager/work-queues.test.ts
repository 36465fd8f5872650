import type { Session } from "@unacked/broker";
import { expect, test } from "vitest";
import { WorkQueues } from "../../../services/observer-manager/src/adapters/amqp/work-queues.ts";

/** A session that answers when it is told to. */
function session(generation: number) {
  const asked: { name: string; answer: PromiseWithResolvers }[] = [];
  const declare = ({ name }: { name: string }) =>
    new Promise<void>((resolve, reject) => asked.push({ name, answer: { resolve, reject } }));
  return { asked, session: { generation, declare } as unknown as Session };
}

type PromiseWithResolvers = { resolve(): void; reject(error: Error): void };

test("thousands of starts that need the same queue at once have it declared once", async () => {
  const { asked, session: one } = session(1);
  const queues = new WorkQueues(() => one, "classic");
  const starts = Array.from({ length: 2_000 }, () => queues.ensure("a"));
  const other = queues.ensure("b");
  expect(asked.map(({ name }) => name)).toEqual(["unacked.work.a", "unacked.work.b"]);
  for (const { answer } of asked) answer.resolve();
  await Promise.all([...starts, other, queues.ensure("a")]);
  expect(asked).toHaveLength(2);
});

test("one that was refused, forgotten or declared on another connection is declared again", async () => {
  let now = session(1);
  const queues = new WorkQueues(() => now.session, "classic");
  const refused = queues.ensure("a");
  now.asked[0]?.answer.reject(new Error("no"));
  await expect(refused).rejects.toThrow("no");
  const ensured = async () => {
    const before = now.asked.length;
    const done = queues.ensure("a");
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
