import type { Delivery } from "@unacked/broker";
import type { StartTask, TaskEvent } from "@unacked/contracts";
import { describe, expect, test, vi } from "vitest";
import type { Handlers } from "../../../services/observer-service/src/keeper/runs/handlers.ts";
import { TaskIntake } from "../../../services/observer-service/src/keeper/tasks/task-intake.ts";
import { TaskRunner } from "../../../services/observer-service/src/keeper/tasks/task-runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import type { TaskTypeEntry } from "../../../services/observer-service/src/wire/messages.ts";
import { eventually } from "../../support/eventually.ts";

const GENERATION = 1;
const [A, B, C] = ["a", "b", "c"].map((digit) => `0198c000-0000-7000-8000-00000000000${digit}`) as [string, string, string];
const MARKER = "0198c000-0000-7000-8000-00000000000f";

const task = (id: string) =>
  ({ taskId: id, sendId: id, type: "paint", params: {}, pool: "default", failures: 0 }) as StartTask;

/** A service's inner parts with no broker: the test decides when the lease is held, and when a handler ends or an event is confirmed. */
function parts() {
  let isHeld = true;
  const told: { event: TaskEvent; confirm: () => void }[] = [];
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const reported: string[] = [];
  const takenBack = vi.fn<(generation: number) => void>();
  const start: Handlers["start"] = (host, run) => {
    started.push((run as unknown as { task: StartTask }).task.taskId);
    ends.push(() => host.onSettled(run, { outcome: "completed" }));
    return { abort: () => host.onSettled(run, { outcome: "stopped" }) };
  };
  const shared = {
    events: { tell: (event: TaskEvent, confirm = () => undefined as void) => void told.push({ event, confirm }) },
    holds: (generation: number) => isHeld && generation === GENERATION,
    log: createLog("silent"),
  };
  const runner = new TaskRunner({
    ...shared,
    types: new Map([["paint", { type: "paint" } as TaskTypeEntry]]),
    workers: 1,
    stopTimeoutMs: 1_000,
    takenBack,
    paces: { note: () => undefined },
    handlers: {
      start,
      noSlotFor: () => undefined,
      checkParams: () => undefined,
      forget: () => undefined,
    } as unknown as Handlers,
  });
  const errors = { report: async ({ detail = "" }: { detail?: string }) => void reported.push(detail) };
  const intake = new TaskIntake({ ...shared, runner, errors, closing: new AbortController().signal });
  return {
    ...{ intake, runner, started, reported, takenBack },
    loseLease: () => {
      isHeld = false;
    },
    endFirst: () => ends.shift()?.(),
    confirmAll: () => told.forEach(({ confirm }) => confirm()),
    told: () => told.map(({ event }) => ("taskId" in event ? `${event.kind} ${event.taskId}` : event.kind)),
    events: () => told.map(({ event }) => event),
  };
}

function delivery(body: unknown, more: { type?: string; redelivered?: boolean; deliveryCount?: number } = {}) {
  const { type = "StartTask", redelivered = false, deliveryCount = 0 } = more;
  const settle = vi.fn<(how: "ack" | "requeue") => boolean>(() => true);
  const message = { redelivered, deliveryCount, queue: "tasks", generation: GENERATION, properties: { type, headers: {} } };
  const content = { body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), shed: () => undefined };
  return Object.assign({ ...message, ...content } as unknown as Delivery, { settle });
}

const bundle = (tasks: StartTask[], more: Parameters<typeof delivery>[1] = {}) =>
  delivery({ kind: "TaskBundle", pool: "default", tasks }, { type: "TaskBundle", ...more });
const marker = () => delivery({ kind: "TaskMarker", markerId: MARKER, pool: "default" }, { type: "TaskMarker" });

describe("a task whose generation has lost its lease", () => {
  test.each([
    ["one", () => delivery(task(A))],
    ["a bundle", () => bundle([task(A), task(B)])],
    ["a bundle that was given out before", () => bundle([task(A), task(B)], { redelivered: true, deliveryCount: 1 })],
    ["a marker", marker],
    ["what cannot be read", () => delivery("{")],
  ])("is neither started nor settled nor told of when it comes: %s", async (_what, make) => {
    const { intake, runner, loseLease, started, told, reported } = parts();
    const late = make();
    loseLease();
    intake.take(late);
    await Promise.resolve();
    expect([runner.size, started, told(), reported]).toEqual([0, [], [], []]);
    expect(late.settle).not.toHaveBeenCalled();
  });

  test("is not given back by a drain either: its session does that", () => {
    const { intake, loseLease } = parts();
    const late = delivery(task(A));
    intake.drain();
    loseLease();
    intake.take(late);
    expect(late.settle).not.toHaveBeenCalled();
  });

  test("is not started when the lease goes while it waits for a worker", () => {
    const { intake, runner, loseLease, started, endFirst } = parts();
    const waiting = delivery(task(B));
    intake.take(delivery(task(A)));
    intake.take(waiting);
    loseLease();
    endFirst();
    expect([started, runner.size]).toEqual([[A], 0]);
    expect(waiting.settle).not.toHaveBeenCalled();
  });

  test("is not acked when its end is confirmed", () => {
    const { intake, loseLease, endFirst, told, confirmAll } = parts();
    const ended = delivery(task(A));
    intake.take(ended);
    endFirst();
    expect(told()).toContain(`TaskEnded ${A}`);
    loseLease();
    confirmAll();
    expect(ended.settle).not.toHaveBeenCalled();
  });
});

test("a task whose lease is held is acked when its end is confirmed, and not before", () => {
  const { intake, endFirst, confirmAll } = parts();
  const ended = delivery(task(A));
  intake.take(ended);
  endFirst();
  expect(ended.settle).not.toHaveBeenCalled();
  confirmAll();
  expect(ended.settle.mock.calls).toEqual([["ack"]]);
});

test.each([
  ["a classic queue says", { redelivered: true }],
  ["a quorum queue counts", { deliveryCount: 1 }],
])(
  "a bundle that was given out before, as %s, runs nothing: the books know what of it is still to be done",
  (_who, more) => {
    const { intake, started, events, confirmAll } = parts();
    const again = bundle([task(A), task(B)], more);
    intake.take(again);
    expect(started).toEqual([]);
    expect(events()).toMatchObject([A, B].map((taskId) => ({ kind: "TaskReturned", taskId, isRedelivered: true })));
    expect(again.settle).not.toHaveBeenCalled();
    confirmAll();
    expect(again.settle.mock.calls).toEqual([["ack"]]);
  },
);

test("a bundle that comes for the first time runs", () => {
  const { intake, started, endFirst } = parts();
  intake.take(bundle([task(A), task(B)]));
  endFirst();
  expect(started).toEqual([A, B]);
});

test("a task that was cancelled before its message came is over when it comes, and another send of it runs", () => {
  const { intake, runner, started, events } = parts();
  runner.cancel(task(A).taskId, task(A).sendId);
  intake.take(delivery(task(A)));
  expect(started).toEqual([]);
  expect(events()).toMatchObject([{ kind: "TaskEnded", taskId: A, outcome: "cancelled" }]);
  intake.take(delivery({ ...task(A), sendId: C }));
  expect(started).toEqual([A]);
});

test("a marker is acked when it was said that it was seen, and not before", () => {
  const { intake, told, confirmAll } = parts();
  const seen = marker();
  intake.take(seen);
  expect(told()).toEqual(["TaskMarkerSeen"]);
  expect(seen.settle).not.toHaveBeenCalled();
  confirmAll();
  expect(seen.settle.mock.calls).toEqual([["ack"]]);
});

test("what comes while the service drains goes straight back, and is named for a while as what it gave back", () => {
  const { intake, runner, started } = parts();
  const [one, many] = [delivery(task(A)), bundle([task(B), task(C)])];
  intake.drain();
  for (const each of [one, many]) intake.take(each);
  expect([started, runner.held.toSorted()]).toEqual([[], [A, B, C]]);
  for (const { settle } of [one, many]) expect(settle.mock.calls).toEqual([["requeue"]]);
  intake.goOn();
  intake.take(delivery(task(A)));
  expect(started).toEqual([A]);
});

test("what cannot be read goes to the errors, and is acked when that is confirmed", async () => {
  const { intake, reported } = parts();
  const unreadable = delivery("{");
  intake.take(unreadable);
  await eventually(() => expect(unreadable.settle.mock.calls).toEqual([["ack"]]));
  expect(reported).toHaveLength(1);
});
