import { setImmediate as turn } from "node:timers/promises";
import type { TaskEvent, TaskEventBatch } from "@unacked/contracts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { TaskSender } from "../../../services/observer-service/src/keeper/tasks/task-sender.ts";
import { ToldLoad } from "../../../services/observer-service/src/keeper/tasks/told-load.ts";

let sent: { batch: TaskEventBatch; atMs: number }[];
let sender: TaskSender;
let isStocked: boolean;
let running: Promise<void>;

const started = (runId: string) => ({ kind: "TaskStarted", runId }) as unknown as TaskEvent;
const ended = (runId: string) => ({ kind: "TaskEnded", runId }) as unknown as TaskEvent;
const told = () =>
  sent.map(({ batch }) => batch.events.map((event) => `${event.kind} ${(event as { runId: string }).runId}`));

beforeEach(begin);
afterEach(end);

function begin(): void {
  sent = [];
  isStocked = false;
  const publish = ({ body }: { body: Buffer }) => {
    sent.push({ batch: JSON.parse(String(body)), atMs: performance.now() });
    return Promise.resolve();
  };
  const publisher = { publish, writable: () => Promise.resolve(), declareAgain: () => Promise.resolve() };
  const identity = { serviceId: "s", serviceName: "one", pool: "default" };
  sender = new TaskSender(identity as never, { publisher, log: console } as never, () => isStocked);
  running = sender.run();
}

async function end(): Promise<void> {
  sender.close();
  await running;
}

/** @param attempt false: the machine stood still for longer than what is to be seen lasts; it is begun anew */
async function steadily(attempt: () => Promise<boolean>): Promise<void> {
  while (!(await attempt())) {
    await end();
    begin();
  }
}

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

it("Under load what is told waits 10 ms for others; before and after that it leaves at once", () =>
  steadily(async () => {
    sender.tell(ended("alone"));
    await sender.emptied();
    const beganMs = performance.now();
    for (let i = 0; i < 50; i += 1) sender.tell(ended(`${i}`));
    await turn();
    sender.tell(started("late"));
    sender.tell(ended("late"));
    if (performance.now() - beganMs > 9) return false;
    await sender.emptied();
    expect(told().map(({ length }) => length)).toEqual([1, 51]);
    expect(sent[1]?.atMs).toBeGreaterThanOrEqual(beganMs + 9);
    return true;
  }));

it("Where enough tasks wait here for a worker, it waits for others from five on", () =>
  steadily(async () => {
    isStocked = true;
    const beganMs = performance.now();
    for (let i = 0; i < 5; i += 1) sender.tell(ended(`${i}`));
    await turn();
    sender.tell(ended("late"));
    if (performance.now() - beganMs > 9) return false;
    await sender.emptied();
    expect(told().map(({ length }) => length)).toEqual([6]);
    return true;
  }));

it("Under load a patient start is told with its end, or after 50 ms; else at once", () =>
  steadily(async () => {
    sender.tell(started("calm"), undefined, true);
    await sender.emptied();
    expect(told()).toEqual([["TaskStarted calm"]]);
    const beganMs = performance.now();
    for (let i = 0; i < 60; i += 1) sender.tell(ended(`${i}`));
    sender.tell(started("long"), undefined, true);
    sender.tell(started("short"), undefined, true);
    sender.tell(started("hasty"));
    while (sent.length < 2) await turn();
    sender.tell(ended("short"));
    if (performance.now() - beganMs > 45) return false;
    expect(told()[1]?.slice(60)).toEqual(["TaskStarted hasty"]);
    await sender.emptied();
    if ((sent[2]?.atMs ?? 0) - beganMs > 45) return false; // by then both are due, and go together
    expect(told().slice(2)).toEqual([["TaskEnded short"], ["TaskStarted long"]]);
    expect(sent.at(-1)?.atMs).toBeGreaterThanOrEqual(beganMs + 50);
    return true;
  }));

it("What is told of one send keeps its order, also where its start is patient", async () => {
  const of = (event: TaskEvent, sendId: string) => ({ ...event, sendId }) as TaskEvent;
  const returned = { kind: "TaskReturned", sendId: "one", runId: "a" } as unknown as TaskEvent;
  for (let i = 0; i < 60; i += 1) sender.tell(ended(`${i}`));
  sender.tell(of(started("a"), "one"), undefined, true);
  sender.tell(of(started("b"), "other"), undefined, true);
  sender.tell(returned);
  sender.tell(of(started("b2"), "other"), undefined, true);
  sender.tell(of(ended("b2"), "other"));
  await sender.emptied();
  expect(told().map((batch) => batch.filter((word) => / [a-z]/.test(word)))).toEqual([
    ["TaskStarted a", "TaskStarted b", "TaskReturned a", "TaskEnded b2"],
  ]);
});

it("Load is fifty in a tenth of a second, in this one or the one before", () => {
  const load = new ToldLoad();
  for (let i = 0; i < 49; i += 1) load.note(1_000 + i);
  expect(load.isHeavy(false, 1_050)).toBe(false);
  load.note(1_051);
  expect([1_052, 1_099, 1_150].map((nowMs) => load.isHeavy(false, nowMs))).toEqual([true, true, true]);
  expect(load.isHeavy(false, 1_260)).toBe(false);
  for (let i = 0; i < 50; i += 1) load.note(1_300);
  expect([1_350, 1_600].map((nowMs) => load.isHeavy(false, nowMs))).toEqual([true, false]);
});

it("Where enough tasks wait here for a worker, five in a tenth of a second are load: no worker waits for what is told", () => {
  const load = new ToldLoad();
  for (let i = 0; i < 4; i += 1) load.note(1_000 + i);
  expect(load.isHeavy(true, 1_010)).toBe(false);
  load.note(1_011);
  expect([true, false].map((isStocked) => load.isHeavy(isStocked, 1_012))).toEqual([true, false]);
});

it("Closed while it pauses, it ends at once", async () => {
  for (let i = 0; i < 50; i += 1) sender.tell(ended(`${i}`));
  await turn();
  sender.close();
  await running;
});

it("What its workers are is told as it is by then, once, however long what tells it has had to wait", async () => {
  const workers = (count: number) => ({ kind: "TaskWorkers", workers: count }) as unknown as TaskEvent;
  let unblock = (): void => undefined;
  const blocked = new Promise<void>((resolve) => {
    unblock = resolve;
  });
  const batches: TaskEvent[][] = [];
  let isLater = false;
  const publish = async ({ body }: { body: Buffer }) => {
    batches.push(JSON.parse(String(body)).events);
    if (isLater && batches.length === 2) tell(6); // that of the next generation was looked at, and not taken
  };
  const publisher = { publish, writable: () => blocked, declareAgain: () => Promise.resolve() };
  const waiting = new TaskSender({ serviceId: "s" } as never, { publisher, log: console } as never, () => false);
  const sending = waiting.run();
  const confirmed: number[] = [];
  const tell = (count: number) => waiting.tell(workers(count), () => confirmed.push(count));
  tell(1);
  await turn();
  await turn(); // it is being sent
  for (const count of [2, 3, 4]) tell(count);
  waiting.tell(ended("a"));
  expect(waiting.waiting).toBe(3);
  waiting.enterGeneration(2);
  tell(5);
  isLater = true;
  unblock();
  await waiting.emptied();
  waiting.close();
  await sending;
  expect(batches).toEqual([[workers(1)], [workers(4), ended("a")], [workers(6)]]);
  expect(confirmed).toEqual([1, 2, 3, 4, 5, 6]);
});
