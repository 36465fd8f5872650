import { setImmediate as turn } from "node:timers/promises";
import type { SendId, StartTask, TaskEvent, TaskId } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { HandlerHost, Handlers } from "../../../services/observer-service/src/keeper/runs/handlers.ts";
import { TaskRunner } from "../../../services/observer-service/src/keeper/tasks/task-runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import type { TaskTypeEntry } from "../../../services/observer-service/src/wire/messages.ts";
import { type KeptLine, keptLog } from "../../support/logs/kept-log.ts";

afterEach(() => void vi.useRealTimers());

const task = (id: string, type: string) => ({ taskId: id, sendId: id, type, params: {}, failures: 0 }) as StartTask;
const messageOf = (generation = 1) => ({ generation, deliveryCount: 0, isShared: true, settle: () => true });
const nothing = { noSlotFor: () => undefined, checkParams: () => undefined, forget: () => undefined };

/** @param start as that of handlers @param more what is otherwise */
function runnerOf(types: ReadonlyMap<string, TaskTypeEntry>, start: Handlers["start"], more: object = {}) {
  const told: TaskEvent[] = [];
  const tasks = new TaskRunner({
    ...{ types, workers: 1, stopTimeoutMs: 1_000, log: createLog("silent"), holds: () => true },
    handlers: { ...nothing, start } as unknown as Handlers,
    takenBack: () => undefined,
    paces: { note: () => undefined },
    events: { tell: (event) => void told.push(event) },
    ...more,
  });
  const ends = () => told.flatMap((event) => (event.kind === "TaskEnded" ? [[event.taskId, event.outcome]] : []));
  return { tasks, told, ends };
}

test("tasks of a batch that waits for a worker end as unknown when their type is gone by then", () => {
  const types = new Map(["one", "many"].map((type) => [type, { type, batch: 2 } as unknown as TaskTypeEntry]));
  const begun: string[] = [];
  const start = (host: HandlerHost, run: Parameters<Handlers["start"]>[1]) => {
    begun.push(run.start.type);
    return { abort: () => host.onSettled(run, { outcome: "stopped" }), update: () => undefined };
  };
  const { tasks, ends } = runnerOf(types, start);
  const first = task("a", "one");
  tasks.accept(first, messageOf());
  tasks.acceptBundle([task("b", "many"), task("c", "many")], messageOf());
  types.delete("many");
  tasks.cancel(first.taskId, first.sendId);
  expect(begun).toEqual(["one"]);
  expect(ends()).toContainEqual(["b", "unknown-type"]);
  expect(ends()).toContainEqual(["c", "unknown-type"]);
  expect(tasks.size).toBe(0);
});

test("the time of an attempt, or of a call for many, counts from when it has its place, not while it waits for a slot", () => {
  vi.useFakeTimers();
  const types = new Map(
    [{ type: "one" }, { type: "many", batch: 2 }].map((entry) => [
      entry.type,
      { ...entry, timeoutMs: 1_000 } as TaskTypeEntry,
    ]),
  );
  const ended: string[] = [];
  const place: (() => void)[] = [];
  const start = (host: HandlerHost, run: Parameters<Handlers["start"]>[1]) => {
    place.push(() => host.onPlaced?.(run));
    const settled = () => host.onSettled(run, { outcome: "stopped" });
    return { abort: settled, abortMember: settled, update: () => undefined };
  };
  const tell = (event: TaskEvent) => void (event.kind === "TaskEnded" && ended.push(`${event.taskId} ${event.error?.name}`));
  const { tasks } = runnerOf(types, start, { workers: 2, events: { tell } });
  tasks.accept(task("a", "one"), messageOf());
  tasks.acceptBundle([task("b", "many"), task("c", "many")], messageOf());
  vi.advanceTimersByTime(60_000);
  expect(ended).toEqual([]);
  for (const each of place) each();
  vi.advanceTimersByTime(999);
  expect(ended).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(ended).toEqual(["a TaskTimeoutError", "b TaskTimeoutError", "c TaskTimeoutError"]);
});

test("whose slot ends while its time is up is told to have ended with that, and who did it, in a call for many, too", () => {
  vi.useFakeTimers();
  const entries = [{ type: "one" }, { type: "many", batch: 2 }];
  const types = new Map(entries.map((entry) => [entry.type, { ...entry, timeoutMs: 1_000 } as TaskTypeEntry]));
  const gone: (() => void)[] = [];
  const start: Handlers["start"] = (host, run) => {
    host.onPlaced?.(run);
    gone.push(() => host.onInterrupted(run, { detail: "its slot ended (SIGKILL): task spin 1 did it" }));
    return { abort: () => undefined, abortMember: () => undefined }; // a neighbour blocks their slot
  };
  const said: string[] = [];
  const tell = (event: TaskEvent) => void (event.kind === "TaskEnded" && said.push(event.error?.message ?? ""));
  const { tasks } = runnerOf(types, start, { workers: 2, events: { tell } });
  tasks.accept(task("a", "one"), messageOf());
  tasks.acceptBundle([task("b", "many"), task("c", "many")], messageOf());
  vi.advanceTimersByTime(1_000);
  for (const each of gone) each();
  const message = "the handler has not settled within 1000 ms (timeoutMs); its slot ended (SIGKILL): task spin 1 did it";
  expect(said).toEqual([message, message, message]);
});

test("what ended a run is told with the next one, and with its end where that comes first; of a call for many with the return of each", () => {
  const types = new Map([{ type: "one" }, { type: "many", batch: 2 }].map((entry) => [entry.type, entry as TaskTypeEntry]));
  const begun: { gone: (detail: string) => void; settle: () => void }[] = [];
  const start: Handlers["start"] = (host, run) => {
    host.onPlaced?.(run);
    begun.push({
      gone: (detail) => host.onInterrupted(run, { detail }),
      settle: () => host.onSettled(run, { outcome: "completed" }, { output: "1" }),
    });
    return { abort: () => undefined, abortMember: () => undefined };
  };
  const { tasks, told } = runnerOf(types, start, { workers: 2 });
  const why = `its slot ended (exit code 3)${"\0".repeat(1_000)}`;
  tasks.accept(task("a", "one"), messageOf());
  begun[0]?.gone(why);
  begun[1]?.settle();
  tasks.acceptBundle([task("b", "many"), task("c", "many")], messageOf());
  begun[2]?.gone("its slot ended (SIGKILL)");
  const heard = told.flatMap((event) =>
    "taskId" in event && "interruption" in event ? [[event.kind, event.taskId, event.interruption]] : [],
  );
  const sent = expect.stringMatching(/^its slot ended \(exit code 3\)\uFFFD{571}…$/);
  expect(heard).toEqual([
    ["TaskStarted", "a", undefined],
    ["TaskStarted", "a", sent],
    ["TaskEnded", "a", sent],
    ["TaskStarted", "b", undefined],
    ["TaskStarted", "c", undefined],
    ["TaskReturned", "b", "its slot ended (SIGKILL)"],
    ["TaskReturned", "c", "its slot ended (SIGKILL)"],
  ]);
});

test("tasks of a batch that waits for a worker are sent again one by one when their type takes no batches by then", () => {
  const types = new Map([{ type: "one" }, { type: "many", batch: 2 }].map((entry) => [entry.type, entry as TaskTypeEntry]));
  const start: Handlers["start"] = (host, run) => ({ abort: () => host.onSettled(run, { outcome: "stopped" }) });
  const { tasks, told } = runnerOf(types, start);
  tasks.accept(task("a", "one"), messageOf());
  tasks.acceptBundle([task("b", "many"), task("c", "many")], messageOf());
  types.set("many", { type: "many" } as TaskTypeEntry); // the folder was loaded again
  tasks.cancel(task("a", "one").taskId, task("a", "one").sendId);
  const returned = told.flatMap((event) => (event.kind === "TaskReturned" ? [event.taskId] : []));
  expect(returned).toEqual(["b", "c"]);
  expect(tasks.size).toBe(0);
});

test("thousands that wait for a worker end one after the other when their type is gone by then", () => {
  const types = new Map(["one", "gone"].map((type) => [type, { type } as TaskTypeEntry]));
  const start: Handlers["start"] = (host, run) => ({ abort: () => host.onSettled(run, { outcome: "stopped" }) });
  const { tasks, ends } = runnerOf(types, start);
  tasks.accept(task("a", "one"), messageOf());
  for (let i = 0; i < 4_000; i += 1) tasks.accept(task(`t${i}`, "gone"), messageOf());
  types.delete("gone");
  tasks.cancel(task("a", "one").taskId, task("a", "one").sendId);
  expect(ends()).toHaveLength(4_001);
  expect(tasks.size).toBe(0);
});

test("a message that comes again after its end was told, as its ack was lost with the connection, is not run, and is the books' to judge", () => {
  const types = new Map([["one", { type: "one" } as TaskTypeEntry]]);
  const begun: string[] = [];
  const start: Handlers["start"] = (host, run) => {
    begun.push(run.start.type);
    host.onSettled(run, { outcome: "completed" }, { output: "1" });
    return { abort: () => undefined };
  };
  const confirms: (() => void)[] = [];
  const settled: string[] = [];
  let held = 1;
  const { tasks, told } = runnerOf(types, start, {
    holds: (generation: number) => generation === held,
    events: { tell: (event: TaskEvent, confirm = () => undefined) => void (told.push(event), confirms.push(confirm)) },
  });
  const own = (generation: number) => ({
    ...{ generation, deliveryCount: generation - 1, isShared: false },
    settle: (how: string) => settled.push(`${generation} ${how}`) > 0,
  });
  tasks.accept(task("a", "one"), own(1));
  held = 2; // before the end is confirmed
  tasks.accept(task("a", "one"), own(2));
  expect(begun).toEqual(["one"]);
  const kinds = told.map(({ kind }) => kind).filter((kind) => kind !== "TaskStarted");
  expect(kinds).toEqual(["TaskEnded", "TaskReturned"]);
  expect(tasks.held).toContain(task("a", "one").sendId);
  for (const confirm of confirms) confirm();
  expect(settled).toEqual(["2 ack"]);
  expect(tasks.held).toEqual([]);
});

test("what a service gave back is run when it comes to it again", () => {
  const types = new Map([["one", { type: "one" } as TaskTypeEntry]]);
  let begun = 0;
  const start: Handlers["start"] = (host, run) => {
    begun += 1;
    return { abort: () => host.onSettled(run, { outcome: "stopped" }) };
  };
  const { tasks } = runnerOf(types, start);
  const own = (deliveryCount: number) => ({ generation: 1, deliveryCount, isShared: false, settle: () => true });
  tasks.accept(task("a", "one"), own(0));
  tasks.stopAll({ kind: "draining" });
  tasks.accept(task("a", "one"), own(1));
  expect(begun).toBe(2);
});

test("a cancel reaches the run that waits for the one which lost the lease, too", () => {
  const types = new Map([["one", { type: "one" } as TaskTypeEntry]]);
  const settles: (() => void)[] = [];
  let held = 1;
  const start: Handlers["start"] = (host, run) => {
    settles.push(() => host.onSettled(run, { outcome: "stopped" }));
    return { abort: () => undefined }; // it takes its time
  };
  const { tasks, ends } = runnerOf(types, start, { workers: 2, holds: (generation: number) => generation === held });
  const one = task("a", "one");
  tasks.accept(one, messageOf(1));
  held = 0;
  tasks.fence();
  held = 2;
  tasks.accept(one, messageOf(2));
  tasks.cancel(one.taskId, one.sendId);
  settles[0]?.();
  expect(settles).toHaveLength(1);
  expect(ends()).toEqual([["a", "cancelled"]]);
  expect(tasks.size).toBe(0);
});

test("what has run for long is said to run each 30 s, once the broker has taken that before, and until it is told to end", () => {
  vi.useFakeTimers();
  const confirms: (() => void)[] = [];
  const said: string[][] = [];
  const tell = (event: TaskEvent, onConfirmed?: () => void) => {
    if (event.kind !== "TasksRunning") return;
    said.push(event.tasks.map(({ sendId }) => sendId));
    if (onConfirmed !== undefined) confirms.push(onConfirmed);
  };
  const start: Handlers["start"] = () => ({ abort: () => undefined }); // they do not hear that they are to end
  const types = new Map([["one", { type: "one" } as TaskTypeEntry]]);
  const { tasks } = runnerOf(types, start, { workers: 2, events: { tell } });
  const pass = (ms: number): string[][] => {
    vi.advanceTimersByTime(ms);
    tasks.tellRunning();
    return said.splice(0);
  };
  const confirm = () => confirms.splice(0).forEach((call) => call());
  const [first, other, waiting] = ["a", "b", "c"].map((id) => task(id, "one")) as [StartTask, StartTask, StartTask];
  vi.advanceTimersByTime(1);
  tasks.accept(first, messageOf());
  expect(pass(20_000)).toEqual([]);
  tasks.accept(other, messageOf());
  tasks.accept(waiting, messageOf());
  expect([pass(9_999), pass(1), pass(600_000)]).toEqual([[], [["a"]], []]);
  confirm();
  expect([pass(0), pass(600_000)]).toEqual([[["a", "b"]], []]);
  confirm();
  expect([pass(0), pass(29_999)]).toEqual([[["a", "b"]], []]);
  confirm();
  tasks.cancel(first.taskId, first.sendId);
  expect(pass(1)).toEqual([["b"]]);
});

test("What nobody caught, and says that to try again would not help, fails the task also where its slot has to be ended", () => {
  const fail: (() => void)[] = [];
  const start: Handlers["start"] = (host, run) => {
    fail.push(() => host.onUncaught(run, new Error("no such customer"), true));
    const abort = () => host.onInterrupted(run, { detail: "its slot was ended, as it does not end" });
    return { abort, abortMember: abort };
  };
  const retry = { maxAttempts: 10, initialMs: 1, factor: 1, maxMs: 1, jitter: 0 };
  const types = new Map(
    [{ type: "one" }, { type: "many", batch: 2 }].map((entry) => [entry.type, { ...entry, retry } as TaskTypeEntry]),
  );
  const { tasks, told } = runnerOf(types, start, { workers: 2 });
  tasks.accept(task("a", "one"), messageOf());
  tasks.acceptBundle([task("b", "many"), task("c", "many")], messageOf());
  for (const each of fail) each();
  const ends = told.flatMap((event) => (event.kind === "TaskEnded" ? [[event.taskId, event.outcome, event.retryInMs]] : []));
  expect(ends).toEqual(["a", "b", "c"].map((id) => [id, "failed", null]));
});

describe("tasks that need a slot of their own where there is none", () => {
  const WHY = "no slot is free";
  const types = new Map([{ type: "one" }, { type: "many", batch: 2 }].map((entry) => [entry.type, entry as TaskTypeEntry]));
  let room: boolean;
  /** Of those that wait: has them begin. */
  let place: (() => void)[];
  let warnings: unknown[];
  const log = { ...createLog("silent"), child: () => log, warn: (fields: unknown) => void warnings.push(fields) } as never;
  const start: Handlers["start"] = (host, run) => {
    const begin = () => host.onPlaced?.(run);
    if (room) begin();
    else place.push(begin);
    return { abort: () => void setImmediate(() => host.onSettled(run, { outcome: "stopped" })) };
  };
  const handlers = { ...nothing, start, noSlotFor: () => (room ? undefined : WHY) };
  const summaryOf = (told: TaskEvent[]) =>
    told.map((event) =>
      "taskId" in event ? `${event.taskId} ${"outcome" in event ? event.outcome : event.kind}` : event.kind,
    );
  beforeEach(() => {
    vi.useFakeTimers();
    [room, place, warnings] = [false, [], []];
  });

  test("go back to the books after seconds, which is said: nobody was told that they run, and others have their worker", async () => {
    const { tasks, told } = runnerOf(types, start, { workers: 2, handlers, log });
    tasks.accept(task("a", "one"), messageOf());
    tasks.acceptBundle([task("b", "many"), task("c", "many")], messageOf());
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(summaryOf(told)).toEqual(["a TaskReturned", "b TaskReturned", "c TaskReturned"]);
    for (const event of told) expect(event).toMatchObject({ isRedelivered: false, noSlot: true });
    expect(warnings).toMatchObject([
      { event: "task-no-slot", type: "one", why: WHY },
      { event: "task-no-slot", type: "many", why: WHY },
    ]);
    expect(tasks.size).toBe(0);
    for (let i = 0; i < 5; i += 1) {
      tasks.accept(task(`again-${i}`, "one"), messageOf());
      await vi.advanceTimersByTimeAsync(3_100);
    }
    expect(warnings).toHaveLength(2); // once a minute
  });

  test("are told of as running when they get one, and then stay, however long they take", async () => {
    const { tasks, told } = runnerOf(types, start, { workers: 2, handlers, log });
    tasks.accept(task("a", "one"), messageOf());
    tasks.acceptBundle([task("b", "many"), task("c", "many")], messageOf());
    await vi.advanceTimersByTimeAsync(2_900);
    for (const each of place) each();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(summaryOf(told)).toEqual(["a TaskStarted", "b TaskStarted", "c TaskStarted"]);
    expect(warnings).toEqual([]);
  });

  test("wait on where there is room by then, as a slot that starts may take its time; and go back if that is gone", async () => {
    const { tasks, told } = runnerOf(types, start, { handlers, log });
    tasks.accept(task("a", "one"), messageOf());
    room = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual([]);
    room = false;
    await vi.advanceTimersByTimeAsync(3_100);
    expect(summaryOf(told)).toEqual(["a TaskReturned"]);
  });

  test("end as cancelled where they are that while they wait", async () => {
    const { tasks, told } = runnerOf(types, start, { workers: 2, handlers, log });
    for (const id of ["a", "b"]) tasks.accept(task(id, "one"), messageOf());
    tasks.cancel("a" as TaskId, "a" as SendId);
    await vi.advanceTimersByTimeAsync(3_100);
    expect(summaryOf(told)).toEqual(["a cancelled", "b TaskReturned"]);
  });
});

/** A log that keeps what is warned of. */
function warnings() {
  const lines: KeptLine[] = [];
  return { log: keptLog(lines), warned: () => lines.filter(({ level }) => level === "warn") };
}

test("a task that has failed for good is warned of, with why; a crowd of one turn has one line", async () => {
  const types = new Map([["one", { type: "one" } as TaskTypeEntry]]);
  const refuse: Handlers["start"] = (host, run) => {
    host.onBadParams(run, { name: "InvalidParams", message: "params.to is missing" });
    return { abort: () => undefined };
  };
  const { log, warned } = warnings();
  const { tasks } = runnerOf(types, refuse, { log });
  tasks.accept(task("a", "one"), messageOf());
  await turn();
  const error = { name: "InvalidParams", message: "params.to is missing" };
  expect(warned()).toMatchObject([{ event: "task-failed", task: "a", type: "one", attempts: 1, error }]);
  for (let i = 0; i < 100; i += 1) tasks.accept(task(`t-${i}`, "one"), messageOf());
  await turn();
  expect(warned().slice(1)).toMatchObject([{ event: "tasks-failed", count: 100, error }]);
});

test("of a task whose slot goes it is said whether it begins again, or ends, and by whose doing", () => {
  const types = new Map([["one", { type: "one", retry: { maxAttempts: 3 } } as TaskTypeEntry]]);
  const gone: (() => void)[] = [];
  const start: Handlers["start"] = (host, run) => {
    gone.push(() => host.onInterrupted(run, { detail: "its slot ended" }));
    return { abort: () => undefined };
  };
  const { log, warned } = warnings();
  const { tasks } = runnerOf(types, start, { log, workers: 9 });
  tasks.accept(task("a", "one"), messageOf());
  const b = task("b", "one");
  tasks.accept(b, messageOf());
  tasks.cancel(b.taskId, b.sendId);
  gone[1]?.();
  gone[0]?.();
  expect(warned().map(({ event, task: id, msg }) => [event, id, msg])).toEqual([
    ["task-gone-with-slot", "b", "its slot was ended before it had: it ends as it was told to"],
    ["task-interrupted", "a", "the task begins again, through no fault of its own"],
  ]);
});
