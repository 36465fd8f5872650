import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freshSystem, type System } from "../support/system/system.ts";
import { HANDLER_TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let tasks: Tasks;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("worker", { env: { OBSERVERS_DIR: HANDLER_TASKS_DIR, TASK_WORKERS: "2", SLOTS: "0" } });
  tasks = new Tasks(system);
});
afterAll(() => system.close());

/** Where handlers run in the service itself, they get the same. */
test.each([
  ["later", { inMs: 200 }, { postpones: 1, output: { runs: 2 } }],
  ["second-way", {}, { completedBy: "emergency", failures: 2 }],
  ["parent", { children: [{}, {}] }, { created: [{ type: "child" }, { type: "child" }] }],
])("Without slots, too: %s", async (type, params, done) => {
  const { id } = await tasks.create({}, { type, params: { dir: tasks.dir, ...params } });
  expect(await tasks.get(id, "20s")).toMatchObject({ status: "Completed", ...done });
});

test("Without slots, too: what nobody caught, and is final, is not tried again", async () => {
  const { id } = await tasks.create({}, { type: "careless", params: { dir: tasks.dir } });
  expect(await tasks.get(id, "20s")).toMatchObject({
    status: "Failed",
    failures: 1,
    lastError: { name: "NonRetryableError", message: "it will never do" },
  });
  expect(readFileSync(join(tasks.dir, `${id}.reasons`), "utf8")).toMatch(/: NonRetryableError: it will never do\n$/);
});

test("Without slots, too: many in one call, one of which is cancelled", async () => {
  const wait = { wait: 6_000 };
  const ids = await tasks.createMixed([{ does: "leave-out", ...wait }, wait, wait], {
    type: "gather",
  });
  await tasks.untilStatus(ids[0] ?? "", "Running");
  await system.call("DELETE", `/api/v1/tasks/${ids[0]}`);
  await tasks.untilAllOver();
  const ended = [];
  for (const id of ids) ended.push(await tasks.get(id));
  expect(ended.map(({ status }) => status)).toEqual(["Cancelled", "Completed", "Completed"]);
});
