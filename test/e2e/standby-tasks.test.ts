import { afterEach, beforeEach, expect, test } from "vitest";
import { freshVhost } from "../support/servers/servers.ts";
import { type PrimaryAndStandby, primaryAndStandby } from "../support/servers/standby.ts";
import { System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

/* What an asynchronous standby never heard of tasks: docs/decisions/0027-primary-and-standby.md. */

let servers: PrimaryAndStandby;
let system: System;
let tasks: Tasks;

beforeEach(async () => {
  servers = await primaryAndStandby();
  const { amqpUrl, management } = await freshVhost();
  system = new System({ amqpUrl, databaseUrl: servers.databaseUrls, management });
  tasks = new Tasks(system);
  await system.startManager();
  await system.startService("worker-1", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "5" } });
}, 240_000);
afterEach(() => system.close());

test("Tasks whose ends the promoted standby never saw do not run for ten minutes in its books: they run once more within two", {
  timeout: 240_000,
}, async () => {
  const ids = await tasks.createMany(3, { ms: 30_000 });
  for (const id of ids) await tasks.untilStatus(id, "Running");
  await servers.caughtUp();
  servers.wire.blackhole();
  for (const id of ids) await tasks.untilStatus(id, "Completed");
  await servers.primary.kill();
  await servers.promote();
  await system.untilReady();
  const promotedMs = performance.now();
  expect((await tasks.idsOf("Running")).toSorted()).toEqual(ids.toSorted());
  await tasks.untilAllOver(110_000);
  expect((await tasks.idsOf("Completed")).toSorted()).toEqual(ids.toSorted());
  expect(ids.map((id) => tasks.runs().get(id))).toEqual([2, 2, 2]);
  expect(performance.now() - promotedMs).toBeLessThan(120_000);
  expect(system.managers.flatMap(({ lines }) => lines).join("\n")).toContain("task-news-lost");
});
