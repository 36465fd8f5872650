import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { CreateTask, newTaskId, type TaskView } from "@unacked/contracts";
import { expect, it } from "vitest";
import { batchResults } from "../../../services/observer-manager/src/operations/tasks/creations/task-batch.ts";
import { TaskDesk, type TaskDeskParts } from "../../../services/observer-manager/src/operations/tasks/desk/task-desk.ts";
import { SOMEBODY } from "../../support/servers/books.ts";

/*
 * Objects that thousands are made of share their hidden class, or each read of one goes to V8's runtime (docs/performance-budget.md).
 * Node 20 alone can fail this.
 */

setFlagsFromString("--allow-natives-syntax");
const shareClass: (one: object, other: object) => boolean = runInThisContext("(one, other) => %HaveSameMap(one, other)");

/** The first few are made before V8 knows how. */
const MANY = 100;

it("knows those that do not", () => {
  expect(shareClass({ a: 1 }, { a: 2 })).toBe(true);
  expect(shareClass({ a: 1 }, { b: 2 })).toBe(false);
});

it("holds of tasks as they are created", async () => {
  const created: object[] = [];
  const insert: TaskDeskParts["store"]["insert"] = (asked) => {
    created.push(...asked.map(({ task }) => task));
    return Promise.resolve(asked.map(() => ({ kind: "taken" })));
  };
  const types = { liveTypes: () => Promise.resolve({ services: 0, types: [], outside: [] }) };
  const desk = new TaskDesk({ store: { insert }, types } as unknown as TaskDeskParts);
  const requests = Array.from({ length: MANY }, (_, n) => CreateTask.parse({ type: "any", params: { n } }));
  await desk.createTasks(requests, SOMEBODY);
  const [last, before] = created.toReversed() as [object, object];
  expect(created).toHaveLength(MANY);
  expect(shareClass(last, before)).toBe(true);
});

it("holds of tasks as they are answered", () => {
  const task = (n: number) => ({ id: `${n}`, type: "any", params: { n }, status: "Ready" }) as unknown as TaskView;
  const outcomes = Array.from({ length: MANY }, (_, n) => ({
    kind: "created" as const,
    id: newTaskId(),
    task: () => task(n),
  }));
  const tasks = batchResults(outcomes, "request").results.flatMap((result) => ("task" in result ? [result.task] : []));
  const [last, before] = tasks.toReversed() as [object, object];
  expect(tasks).toHaveLength(MANY);
  expect(shareClass(last, before)).toBe(true);
});
