import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskBatchResults, TaskView } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inTurn } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

/* The crash table of docs/decisions/0044-two-versions-of-a-type.md has the rest: test/integration/task-two-versions.test.ts. */

const type = (name: string, params: string, run: string) => `
import { setTimeout as sleep } from "node:timers/promises";
import { defineTask } from "@unacked/sdk";
import { z } from "zod";
export default defineTask({ type: "${name}", params: z.strictObject({ ms: z.int().default(0)${params} }), ${run} });
`;
const SINGLE = "run: async ({ params, signal }) => { await sleep(params.ms, undefined, { signal }); return params; }";
const BATCH =
  "batch: { size: 2 }, runBatch: async (tasks) => tasks.map(({ taskId, params }) => ({ taskId, output: params }))";

/** Two folders of one deployment: the newer types take one more. */
const before = temporaryFolder("before");
const after = temporaryFolder("after");
for (const [dir, params] of [
  [before, ""],
  [after, ", width: z.int()"],
] as const) {
  writeFileSync(join(dir, "single.ts"), type("single", params, SINGLE));
  writeFileSync(join(dir, "many.ts"), type("many", params, BATCH));
}

let system: System;
let tasks: Tasks;
const env = { TASK_WORKERS: "2", STOP_TIMEOUT_MS: "1000" };

beforeEach(async () => {
  system = await freshSystem();
  tasks = new Tasks(system);
  await system.startManager();
  await system.startService("older", { env: { ...env, OBSERVERS_DIR: before } });
  await system.startService("newer", { env: { ...env, OBSERVERS_DIR: after } });
});
afterEach(() => system.close());

async function create(name: string, all: object[]): Promise<string[]> {
  const wanted = { tasks: all.map((params) => ({ type: name, params })) };
  const { body } = await system.call<TaskBatchResults>("POST", "/api/v1/tasks/batch", wanted);
  return body.results.map((result) => ("task" in result ? result.task.id : JSON.stringify(result)));
}

/** The books know of the newer version: they take its params. */
const known = (name: string): Promise<string> =>
  eventually(async () => {
    const [id = ""] = await create(name, [{ width: 1 }]);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    return id;
  });

async function ended(ids: string[], timeoutMs = 90_000): Promise<TaskView[]> {
  await tasks.untilAllOver(timeoutMs);
  return await Promise.all(ids.map((id) => tasks.get(id)));
}

test.each(inTurn(["single", "many"]))(
  "While two versions of a type live, each task comes to the one that takes its params: %s",
  async (name) => {
    const first = await known(name);
    const newer = await create(
      name,
      Array.from({ length: 50 }, (_, n) => ({ width: n, ms: 100 })), // shorter ones would go many in a message
    );
    const older = await create(
      name,
      Array.from({ length: 10 }, () => ({})),
    );
    const over = await ended([first, ...newer, ...older]);
    expect(over.filter(({ status }) => status !== "Completed")).toEqual([]);
    expect(over.filter(({ failures, interruptions }) => failures + interruptions > 0)).toEqual([]);
    expect(new Set(over.map(({ service }) => service?.name))).toEqual(new Set(["older", "newer"]));
    expect(over.slice(1, 51).filter(({ service }) => service?.name !== "newer")).toEqual([]);
    // Which service is given one is chance; that all find theirs at once is none that is ever seen.
    const again = over.filter(({ sends }) => sends > 1);
    expect(again).not.toEqual([]);
    for (const { lastError } of again) expect(lastError?.message).toContain("another version of the type in its pool does");
  },
  240_000,
);

test("With the version gone that took them, tasks that wait for it are Failed, and say so", async () => {
  const first = await known("single");
  await tasks.untilStatus(first, "Completed");
  // The newer one is busy, so that the others come to the older one again and again.
  const long = await create(
    "single",
    Array.from({ length: 2 }, () => ({ width: 1, ms: 600_000 })),
  );
  await Promise.all(long.map((id) => tasks.untilStatus(id, "Running")));
  const waiting = await create(
    "single",
    Array.from({ length: 20 }, () => ({ width: 1, ms: 600_000 })), // what the newer one begins as it drains goes back, too
  );
  const refused = await eventually(async () => {
    const all = await Promise.all(waiting.map((id) => tasks.get(id)));
    const found = all.filter(({ status, sends }) => status === "Scheduled" && sends > 1);
    expect(found).not.toEqual([]);
    return found;
  });
  for (const { waitsFor, lastError, failures } of refused) {
    expect({ waitsFor, failures, name: lastError?.name }).toEqual({
      waitsFor: "due-time",
      failures: 0,
      name: "InvalidParams",
    });
    expect(lastError?.message).toMatch(
      /^the service "older" does not take these params, .*: sent again after [\d.]+ s; it said: .*width/,
    );
  }
  await system.service("newer").kill("SIGTERM");
  const over = await ended([...long, ...waiting]);
  expect(over.map(({ status }) => status)).toEqual(over.map(() => "Failed"));
  expect(new Set(over.map(({ lastError }) => lastError?.name))).toEqual(new Set(["InvalidParams"]));
  const told = over.filter(({ id }) => refused.some((one) => one.id === id)).map(({ lastError }) => lastError?.message);
  for (const message of told)
    expect(message).toContain("the version of the type that took these params has gone from the pool");
}, 240_000);
