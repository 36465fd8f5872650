import { setTimeout as sleep } from "node:timers/promises";
import type { LossReason, QueueDeclaration, Session } from "@unacked/broker";
import { expect, test, vi } from "vitest";
import { TaskSide } from "../../../services/observer-service/src/keeper/tasks/task-side.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import type { TaskTypeEntry } from "../../../services/observer-service/src/wire/messages.ts";
import { eventually } from "../../support/eventually.ts";

const FIRST = { type: "first", description: "", paramsSchema: {} } as unknown as TaskTypeEntry;

/** The tasks' side of a service whose broker takes all that it is told, and what becomes of its consumers. @param refused what its broker says of a queue */
function taskSide(tasks: TaskTypeEntry[], refused = new Map<string, LossReason>()) {
  const consumed: string[] = [];
  const declared: string[] = [];
  const publisher = { publish: async () => {}, writable: async () => {}, blocked: () => new Promise<void>(() => {}) };
  const side = new TaskSide({
    identity: { serviceId: "s", serviceName: "s", pool: "default", workerCount: 1 },
    ...{ publisher, queueType: "quorum", declaresTopology: true, workers: 3, stopTimeoutMs: 1_000 },
    ...{ handlers: { catalogue: { tasks } }, errors: {}, log: createLog("silent"), closing: new AbortController().signal },
    ...{ holds: () => true, takenBack: () => undefined },
  } as never);
  const session = (generation: number) =>
    ({
      generation,
      tryToDeclare: async ({ name }: QueueDeclaration) => {
        declared.push(name);
        return refused.get(name);
      },
      declareExchange: async () => {},
      bindAgain: async () => undefined,
      consume: async (queue: string) => {
        consumed.push(`${queue} of ${generation}`);
        return {
          pause: async () => void consumed.push("paused"),
          resume: async (prefetch: number) => void consumed.push(`resumed with ${prefetch}`),
        };
      },
    }) as unknown as Session;
  void side.sender.run();
  return { side, session, consumed, declared };
}

test("The first type of tasks, loaded while a session still waits for its work queue, is taken by that session, and once", async () => {
  const tasks: TaskTypeEntry[] = [];
  const { side, session, consumed } = taskSide(tasks);
  await side.begin(session(1));
  tasks.push(FIRST);
  side.learnTypes();
  side.learnTypes();
  await eventually(() => expect(consumed).toEqual(["unacked.tasks.default of 1"]));
  side.sender.close();
});

test("After the end of its session types that are loaded are taken by the next", async () => {
  const tasks: TaskTypeEntry[] = [];
  const { side, session, consumed } = taskSide(tasks);
  await side.begin(session(1));
  side.sessionLost();
  tasks.push(FIRST);
  side.learnTypes();
  await side.begin(session(2));
  expect(consumed).toEqual(["unacked.tasks.default of 2"]);
  side.sender.close();
});

test("With the last type of tasks its consumer rests, until there is one again", async () => {
  const tasks = [FIRST];
  const { side, session, consumed } = taskSide(tasks);
  await side.begin(session(1));
  tasks.pop();
  side.learnTypes();
  await eventually(() => expect(consumed).toEqual(["unacked.tasks.default of 1", "paused"]));
  tasks.push(FIRST);
  side.learnTypes();
  await eventually(() => expect(consumed).toEqual(["unacked.tasks.default of 1", "paused", "resumed with 3"]));
  side.sender.close();
});

test("A type that is back before its consumer rests is taken as before", async () => {
  const tasks = [FIRST];
  const { side, session, consumed } = taskSide(tasks);
  await side.begin(session(1));
  tasks.pop();
  side.learnTypes();
  tasks.push(FIRST);
  side.learnTypes();
  await side.goOn();
  expect(consumed).toEqual(["unacked.tasks.default of 1"]);
  side.sender.close();
});

test("A service whose last type of tasks goes while it begins takes none", async () => {
  const tasks = [FIRST];
  const { side, session, consumed } = taskSide(tasks);
  const began = side.begin(session(1));
  tasks.pop();
  side.learnTypes();
  await began;
  expect(consumed).toEqual(["unacked.tasks.default of 1", "paused"]);
  side.sender.close();
});

test("A queue of tasks that the broker refuses is asked for again and again, and then tasks are taken", async () => {
  const refused = new Map<string, LossReason>();
  const refuse = (queue: string) =>
    refused.set(queue, { kind: "channel-closed", detail: `404 NOT_FOUND - home node of ${queue}` });
  const tasks = [FIRST];
  const { side, session, consumed, declared } = taskSide(tasks, refused);
  const asked = (queue: string) => declared.filter((one) => one === queue).length;
  refuse("unacked.task-state");
  refuse("unacked.tasks.default");
  const begun = side.begin(session(1));
  await eventually(() => expect(asked("unacked.task-state")).toBeGreaterThan(1));
  expect(asked("unacked.tasks.default")).toBe(0); // what runs could not be told of
  refused.delete("unacked.task-state");
  await eventually(() => expect(asked("unacked.tasks.default")).toBeGreaterThan(1));
  expect(consumed).toEqual([]);
  refused.delete("unacked.tasks.default");
  await begun;
  expect(consumed).toEqual(["unacked.tasks.default of 1"]);
  side.sender.close();
});

test("What runs on is told to stop when half of the time for a drain is over: what heeds that is not ended for it", async () => {
  const { side, session } = taskSide([FIRST]);
  await side.begin(session(1));
  vi.spyOn(side.runner, "idle").mockReturnValue(new Promise(() => {}));
  const stopAll = vi.spyOn(side.runner, "stopAll");
  const drained = side.drain(400);
  await sleep(300); // timers come in order, however late
  expect(stopAll).toHaveBeenCalledWith({ kind: "draining" });
  await drained;
  side.sender.close();
});
