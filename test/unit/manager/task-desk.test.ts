import { CreateTask, newTaskId } from "@unacked/contracts";
import { expect, test } from "vitest";
import type { Creation } from "../../../services/observer-manager/src/operations/tasks/creations/new-task.ts";
import { TaskDesk } from "../../../services/observer-manager/src/operations/tasks/desk/task-desk.ts";
import { SOMEBODY } from "../../support/servers/books.ts";

const request = (more: object = {}) => CreateTask.parse({ type: "t", ...more });

test("Behind a key or an id that somebody's transaction has, no creation waits that has none", async () => {
  const inserts: { tasks: Creation[]; done(): void }[] = [];
  const insert = (tasks: Creation[]) =>
    new Promise((resolve) => {
      const done = () =>
        resolve(tasks.map(({ task: { id } }) => ({ kind: "created", id, sendId: null, task: () => ({ id }) })));
      inserts.push({ tasks, done });
    });
  const types = {
    liveTypes: async () => ({ services: 0, types: [], outside: [] }),
    livePools: async () => [],
    thereAmong: async () => [],
  };
  const desk = new TaskDesk({ store: { insert }, types, wake() {} } as never);
  const create = (more?: object) => desk.createTasks([request(more)], SOMEBODY);
  const [ofKey, ofId, ofNeither] = [create({ key: "k" }), create({ id: newTaskId() }), create()];
  await new Promise((resolve) => setImmediate(resolve));
  expect(inserts.map(({ tasks }) => tasks.length)).toEqual([1, 1, 1]);
  inserts[2]?.done();
  expect(await ofNeither).toMatchObject([{ kind: "created" }]);
  for (const { done } of inserts) done();
  await Promise.all([ofKey, ofId]);
});

test("An id that somebody's transaction has is named", async () => {
  const id = newTaskId();
  const types = {
    liveTypes: async () => ({ services: 0, types: [], outside: [] }),
    livePools: async () => [],
    thereAmong: async () => [],
  };
  const insert = async (tasks: Creation[]) => tasks.map(() => ({ kind: "held-up" }));
  const desk = new TaskDesk({ store: { insert }, types, wake() {} } as never);
  const [outcome] = await desk.createTasks([request({ id })], SOMEBODY);
  expect(outcome).toMatchObject({ code: "database-unavailable", detail: expect.stringContaining(`has the id ${id} (`) });
});
