import { newServiceId, type TaskEventBatch } from "@unacked/contracts";
import { expect, test } from "vitest";
import { MAX_STATE_MESSAGE_BYTES } from "../../../services/observer-manager/src/adapters/amqp/deliveries/long-messages.ts";
import { TaskStateConsumer } from "../../../services/observer-manager/src/adapters/amqp/tasks/task-state-consumer.ts";
import { type NewError, RefusedByDatabase } from "../../../services/observer-manager/src/operations/books/books-store.ts";
import { eventually } from "../../support/eventually.ts";
import { Dying } from "../../support/ports/dying.ts";
import { MemoryQueue } from "../../support/ports/memory-queue.ts";

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;
const [serviceId, bad] = [newServiceId(), "01932f5d-3f44-4d85-bc31-8eafcd405111"];
const marker = (markerId: string) => ({ kind: "TaskMarkerSeen", markerId });
const good = (n: number) => `01932f5d-3f44-4d85-bc31-8eafcd40520${n}`;
const batchOf = (seq: number, ...markers: string[]) => {
  const about = { serviceName: "s", pool: "default", generation: 1 };
  return { kind: "TaskEventBatch", serviceId, ...about, seq, events: markers.map(marker) };
};

/** What was applied by each call: the number, and the markers. */
async function consumed(refusal: Error, ...batches: object[]) {
  const queue = new MemoryQueue();
  for (const batch of batches) queue.publish(batch);
  const applied: { seq: number; markers: string[] }[] = [];
  const errors: NewError[] = [];
  const apply = async (read: TaskEventBatch[]): Promise<void> => {
    if (JSON.stringify(read).includes(bad)) throw refusal;
    for (const { seq, events } of read)
      applied.push({ seq, markers: events.map((event) => ("markerId" in event ? event.markerId : "")) });
  };
  const consumer = new TaskStateConsumer({
    ledger: { apply, applyPart: (part: TaskEventBatch) => apply([{ ...part, seq: part.seq - 1 }]) } as never,
    errors: { record: async (more) => void errors.push(...more) },
    days: { makeAhead: async () => undefined } as never,
    reporter: "a manager",
    log,
  });
  await consumer.begin(queue.session(new Dying(Number.POSITIVE_INFINITY, "after")));
  await eventually(() => expect(queue.size).toBe(0));
  return { applied, errors };
}

test.each([
  new RefusedByDatabase("no"),
  new TypeError("Cannot convert object to primitive value"),
  new RangeError("Maximum call stack size exceeded"),
])("An event that can never be applied costs none of its message and none beside it: %s", async (refusal) => {
  const { applied, errors } = await consumed(refusal, batchOf(7, good(1), bad, good(2)), batchOf(8, good(3)));
  expect(applied.flatMap(({ markers }) => markers)).toEqual([good(1), good(2), good(3)]);
  // Until all of it is applied, its number is not: a crash in between brings it again.
  expect(applied.map(({ seq }) => seq)).toEqual([6, 6, 7, 8]);
  expect(errors).toMatchObject([{ reason: "refused-by-database", detail: refusal.message, reporter: "a manager" }]);
  expect(errors[0]?.body).toContain(bad);
  expect(errors[0]?.body).not.toContain(good(1));
});

test("What cannot be read is recorded once, however often its neighbours are tried again", async () => {
  const { events, ...about } = batchOf(7, good(1));
  const queue = new MemoryQueue();
  queue.publish({ ...about, events: [...events, { kind: "TaskSang" }] });
  const errors: NewError[] = [];
  let tries = 0;
  const consumer = new TaskStateConsumer({
    ledger: { apply: () => ((tries += 1) < 3 ? Promise.reject(new Error("a lock is held")) : Promise.resolve()) } as never,
    errors: { record: async (more) => void errors.push(...more) },
    days: { makeAhead: () => Promise.resolve() } as never,
    reporter: "a manager",
    log,
  });
  await consumer.begin(queue.session(new Dying(Number.POSITIVE_INFINITY, "after")));
  await eventually(() => expect(queue.size).toBe(0));
  expect(tries).toBe(3);
  expect(queue.given.map(({ body }) => body.length)).toEqual([0]); // let go of, once it is acked
  expect(errors).toMatchObject([{ reason: "unreadable", queue: "unacked.task-state" }]);
});

test("What is longer than any honest message is let go of as it comes, stands among the errors, and what is behind it is applied", async () => {
  const long = { ...batchOf(7, good(1)), padding: "x".repeat(MAX_STATE_MESSAGE_BYTES) };
  const { applied, errors } = await consumed(new Error("none"), long, batchOf(8, good(2)));
  expect(applied).toEqual([{ seq: 8, markers: [good(2)] }]);
  expect(errors).toMatchObject([
    { reason: "unreadable", detail: expect.stringContaining("at most 8.0 MiB"), reporter: "a manager" },
  ]);
  expect(errors[0]?.bodyBytes).toBeGreaterThan(MAX_STATE_MESSAGE_BYTES);
  expect(errors[0]?.body).toHaveLength(16_384);
});

test("For how long it has been tried in vain is told, and that it goes well again", async () => {
  const queue = new MemoryQueue();
  queue.publish(batchOf(7, good(1)));
  let isAway = true;
  const consumer = new TaskStateConsumer({
    ledger: { apply: () => (isAway ? Promise.reject(new Error("the database is away")) : Promise.resolve()) } as never,
    errors: { record: () => Promise.resolve() },
    days: { makeAhead: () => Promise.resolve() } as never,
    reporter: "a manager",
    log,
  });
  await consumer.begin(queue.session(new Dying(Number.POSITIVE_INFINITY, "after")));
  await eventually(() => expect(consumer.retries.failingForMs).toBeGreaterThan(0));
  isAway = false;
  await eventually(() => expect(queue.size).toBe(0));
  expect(consumer.retries.failingForMs).toBe(0);
});

test("Of large messages a transaction has a few, in order, and half of them where that fails", async () => {
  const queue = new MemoryQueue();
  const padding = "x".repeat(1_048_576);
  for (let seq = 1; seq <= 20; seq += 1) queue.publish({ ...batchOf(seq, good(1)), padding });
  const [begun, applied]: [number[][], number[]] = [[], []];
  let isRefused = false;
  const apply = async (read: TaskEventBatch[]): Promise<void> => {
    begun.push(read.map(({ seq }) => seq));
    if (begun.length === 2 && !isRefused) {
      isRefused = true;
      throw new Error("Query read timeout");
    }
    applied.push(...read.map(({ seq }) => seq));
    await new Promise((resolve) => setImmediate(resolve));
  };
  const consumer = new TaskStateConsumer({
    ledger: { apply } as never,
    errors: { record: () => Promise.resolve() },
    days: { makeAhead: () => Promise.resolve() } as never,
    reporter: "a manager",
    log,
  });
  await consumer.begin(queue.session(new Dying(Number.POSITIVE_INFINITY, "after")));
  await eventually(() => expect(queue.size).toBe(0));
  expect(applied).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  // The first is begun when nothing else is there yet; seven are 8 MiB.
  expect(begun.map(({ length }) => length)).toEqual([1, 7, 4, 3, 7, 5]);
});
