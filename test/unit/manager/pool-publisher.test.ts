import { type Outgoing, PublishError, type Publisher } from "@unacked/broker";
import { expect, onTestFinished, test, vi } from "vitest";
import { NotTried } from "../../../services/observer-manager/src/adapters/amqp/pools/pool-window.ts";
import { PoolPublisher } from "../../../services/observer-manager/src/adapters/amqp/tasks/pool-publisher.ts";
import { keptLog } from "../../support/servers/books.ts";

/** A connection to the broker, and what is open on it. */
function connection() {
  const open: { pool: string; confirm(): void; reject(code: "too-late" | "lost"): void }[] = [];
  const publisher = {
    isStarted: false,
    start() {
      publisher.isStarted = true;
    },
    publish: ({ routingKey, messageId }: Outgoing) =>
      new Promise<void>((resolve, reject) => {
        const refuse = (code: "too-late" | "lost") => reject(new PublishError(code, messageId, "no confirm"));
        open.push({ pool: routingKey, confirm: resolve, reject: refuse });
      }),
  };
  return { open, publisher };
}

function publishing() {
  const [main, aside] = [connection(), connection()];
  const log = keptLog();
  const pools = new PoolPublisher(main.publisher as unknown as Publisher, aside.publisher as unknown as Publisher, log);
  const publish = (pool: string, type: "classic" | "quorum" = "quorum") =>
    pools
      .publish(pool, type, { routingKey: pool, messageId: "m" } as Outgoing)
      .catch((error: Error) => (error instanceof PublishError ? error.code : error));
  return { main: main.open, aside: aside.open, isAsideStarted: () => aside.publisher.isStarted, publish, log };
}

test("of a quorum queue no more is open than RabbitMQ bears from one that confirms nothing; of a classic one all", async () => {
  const { main, publish } = publishing();
  for (let i = 0; i < 100; i += 1) void publish("a");
  for (let i = 0; i < 100; i += 1) void publish("b", "classic");
  expect([main.filter(({ pool }) => pool === "a").length, main.filter(({ pool }) => pool === "b").length]).toEqual([
    16, 100,
  ]);
});

test("a pool whose confirm was missing goes aside until one comes, and no other pool with it", async () => {
  const { main, aside, isAsideStarted, publish, log } = publishing();
  const first = Array.from({ length: 20 }, () => publish("a"));
  const other = publish("b");
  for (const { pool, confirm, reject } of main) {
    if (pool === "a") reject("too-late");
    else confirm();
  }
  const outcomes = await Promise.all(first);
  expect([
    outcomes.filter((one) => one === "too-late").length,
    outcomes.filter((one) => one instanceof NotTried).length,
  ]).toEqual([16, 4]);
  expect([await other, isAsideStarted()]).toEqual([undefined, true]);

  const [again, beside] = [publish("a"), publish("b")];
  expect([main.at(-1)?.pool, aside.map(({ pool }) => pool)]).toEqual(["b", ["a"]]);
  main.at(-1)?.confirm();
  aside[0]?.reject("too-late");
  expect(await Promise.all([again, beside])).toEqual(["too-late", undefined]);

  const confirmed = publish("a");
  expect(aside).toHaveLength(2);
  aside[1]?.confirm();
  expect(await confirmed).toBeUndefined();
  const back = publish("a");
  main.at(-1)?.reject("lost"); // as all that was open there, which says nothing of this pool
  expect(await back).toBe("lost");
  void publish("a");
  expect([main.at(-1)?.pool, aside.length]).toEqual(["a", 2]);
  expect(log.lines.map(({ fields }) => (fields as { event: string }).event)).toEqual([
    "tasks-not-confirmed",
    "tasks-confirmed",
  ]);
});

test("what has waited for its place for long is not tried any more: by then its claim is old", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { main, publish } = publishing();
  const all = Array.from({ length: 20 }, () => publish("a"));
  vi.advanceTimersByTime(1_000);
  const later = Array.from({ length: 3 }, () => publish("a"));
  vi.advanceTimersByTime(1_000);
  for (const { confirm } of main.splice(0)) confirm();
  const outcomes = await Promise.all(all);
  expect(outcomes.filter((one) => one instanceof NotTried)).toHaveLength(4);
  expect(main).toHaveLength(3);
  for (const { confirm } of main) confirm();
  expect(await Promise.all(later)).toEqual([undefined, undefined, undefined]);
});
