import type { StartTask, TaskEvent } from "@unacked/contracts";
import { afterEach, expect, test, vi } from "vitest";
import type { HandlerHost, Handlers } from "../../../services/observer-service/src/keeper/runs/handlers.ts";
import { TaskRunner } from "../../../services/observer-service/src/keeper/tasks/task-runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import type { TaskTypeEntry } from "../../../services/observer-service/src/wire/messages.ts";

afterEach(() => void vi.useRealTimers());

test("tasks of a batch that waits for a worker end as unknown when their type is gone by then", () => {
  const types = new Map(["one", "many"].map((type) => [type, { type, batch: 2 } as unknown as TaskTypeEntry]));
  const told: TaskEvent[] = [];
  const begun: string[] = [];
  const start = (host: HandlerHost, run: Parameters<Handlers["start"]>[1]) => {
    begun.push(run.start.type);
    return { abort: () => host.onSettled(run, { outcome: "stopped" }), update: () => undefined };
  };
  const nothing = { noRoomFor: () => undefined, checkParams: () => undefined, forget: () => undefined };
  const tasks = new TaskRunner({
    ...{ types, workers: 1, stopTimeoutMs: 1_000, log: createLog("silent"), holds: () => true },
    handlers: { ...nothing, start } as unknown as Handlers,
    takenBack: () => undefined,
    paces: { note: () => undefined },
    events: { tell: (event) => void told.push(event) },
  });
  const message = { generation: 1, deliveryCount: 0, isShared: true, settle: () => true };
  const task = (id: string, type: string) => ({ taskId: id, sendId: id, type, params: {}, failures: 0 }) as StartTask;
  const first = task("a", "one");
  tasks.accept(first, message);
  tasks.acceptBundle([task("b", "many"), task("c", "many")], message);
  types.delete("many");
  tasks.cancel(first.taskId, first.sendId);
  expect(begun).toEqual(["one"]);
  const ends = told.flatMap((event) => (event.kind === "TaskEnded" ? [[event.taskId, event.outcome]] : []));
  expect(ends).toContainEqual(["b", "unknown-type"]);
  expect(ends).toContainEqual(["c", "unknown-type"]);
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
  const nothing = { noRoomFor: () => undefined, checkParams: () => undefined, forget: () => undefined };
  const tasks = new TaskRunner({
    ...{ types, workers: 2, stopTimeoutMs: 1_000, log: createLog("silent"), holds: () => true },
    handlers: { ...nothing, start } as unknown as Handlers,
    takenBack: () => undefined,
    paces: { note: () => undefined },
    events: { tell: (event) => void (event.kind === "TaskEnded" && ended.push(`${event.taskId} ${event.error?.name}`)) },
  });
  const message = { generation: 1, deliveryCount: 0, isShared: true, settle: () => true };
  const task = (id: string, type: string) => ({ taskId: id, sendId: id, type, params: {}, failures: 0 }) as StartTask;
  tasks.accept(task("a", "one"), message);
  tasks.acceptBundle([task("b", "many"), task("c", "many")], message);
  vi.advanceTimersByTime(60_000);
  expect(ended).toEqual([]);
  for (const each of place) each();
  vi.advanceTimersByTime(999);
  expect(ended).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(ended).toEqual(["a TaskTimeoutError", "b TaskTimeoutError", "c TaskTimeoutError"]);
});
