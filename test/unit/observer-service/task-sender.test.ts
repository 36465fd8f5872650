import { setImmediate as turn } from "node:timers/promises";
import type { TaskEvent, TaskEventBatch } from "@unacked/contracts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { TaskSender } from "../../../services/observer-service/src/keeper/tasks/task-sender.ts";

let sent: { batch: TaskEventBatch; atMs: number }[];
let sender: TaskSender;
let running: Promise<void>;

const started = (runId: string) => ({ kind: "TaskStarted", runId }) as unknown as TaskEvent;
const ended = (runId: string) => ({ kind: "TaskEnded", runId }) as unknown as TaskEvent;
const told = () =>
  sent.map(({ batch }) => batch.events.map((event) => `${event.kind} ${(event as { runId: string }).runId}`));

beforeEach(() => {
  sent = [];
  const publish = ({ body }: { body: Buffer }) => {
    sent.push({ batch: JSON.parse(String(body)), atMs: performance.now() });
    return Promise.resolve();
  };
  const publisher = { publish, writable: () => Promise.resolve(), declareAgain: () => Promise.resolve() };
  const identity = { serviceId: "s", serviceName: "one", pool: "default" };
  sender = new TaskSender(identity as never, { publisher, log: console } as never);
  running = sender.run();
});
afterEach(async () => {
  sender.close();
  await running;
});

it("A start is told where it was sent before its end, and else with its end alone", async () => {
  sender.tell(started("a"));
  await sender.emptied();
  sender.tell(started("b"));
  sender.tell(ended("b"));
  sender.tell(ended("a"));
  await sender.emptied();
  expect(told()).toEqual([["TaskStarted a"], ["TaskEnded b", "TaskEnded a"]]);
  expect(sent.map(({ batch }) => batch.seq)).toEqual([1, 2]);
});

it("Each is confirmed when its batch is, in that order", async () => {
  const confirmed: string[] = [];
  for (const run of ["a", "b"]) sender.tell(ended(run), () => confirmed.push(run));
  expect(confirmed).toEqual([]);
  await sender.emptied();
  expect(confirmed).toEqual(["a", "b"]);
});

it("After many at once the next batch leaves 10 ms later, and who waits for all to be told does not wait for that", async () => {
  for (let i = 0; i < 50; i += 1) sender.tell(ended(`${i}`));
  await sender.emptied();
  const emptiedAtMs = performance.now();
  sender.tell(ended("late"));
  await turn();
  await sender.emptied();
  expect(told().map(({ length }) => length)).toEqual([50, 1]);
  const [first, second] = sent as [(typeof sent)[0], (typeof sent)[0]];
  expect(second.atMs - first.atMs).toBeGreaterThanOrEqual(9);
  expect(emptiedAtMs).toBeLessThan(second.atMs);
});

it("Closed while it pauses, it ends at once", async () => {
  for (let i = 0; i < 50; i += 1) sender.tell(ended(`${i}`));
  await sender.emptied();
  sender.close();
  await running;
});
