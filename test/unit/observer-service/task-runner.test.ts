import type { StartTask, TaskEvent } from "@unacked/contracts";
import { expect, test } from "vitest";
import type { HandlerHost, Handlers } from "../../../services/observer-service/src/keeper/runs/handlers.ts";
import { TaskRunner } from "../../../services/observer-service/src/keeper/tasks/task-runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import type { TaskTypeEntry } from "../../../services/observer-service/src/wire/messages.ts";

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
