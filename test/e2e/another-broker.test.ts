import { afterEach, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, freshVhost } from "../support/servers/servers.ts";
import { System, type SystemOptions } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
afterEach(() => system.close());

it.runIf(isTurnOf(0))(
  "the way that docs/backup.md describes leads to another broker: every observer runs on there, and nothing ran twice meanwhile",
  async () => {
    // Another vhost is as another broker: nobody hears there what is said at the first.
    const [old, other, { databaseUrl }] = await Promise.all([freshVhost(), freshVhost(), freshDatabase()]);
    const options: SystemOptions = { amqpUrl: old.amqpUrl, databaseUrl, management: old.management };
    system = new System(options);
    const tasks = new Tasks(system);
    const worker = { env: { POOL: "tasks", OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "1" } };
    const start = async () => {
      await system.startManager();
      for (const name of ["service-1", "service-2"]) await system.startService(name);
      await system.startService("worker", worker);
    };
    await start();
    const ids = (await system.createMany("observer", 6)).map(({ id }) => id);
    const [first, ...waiting] = await tasks.createMany(4, { ms: 3_000 }, { pool: "tasks" });
    await tasks.untilStatus(first ?? expect.fail("no task"), "Running");

    await Promise.all([...system.services.values()].map((service) => service.kill("SIGTERM")));
    await eventually(async () => {
      const said = (await old.management.queues()).filter(({ name }) =>
        /^unacked\.(state|task-state|error|request)$/.test(name),
      );
      expect(said.filter(({ total }) => total > 0).map(({ name }) => name)).toEqual([]);
    });
    await Promise.all(system.managers.map((manager) => manager.kill("SIGTERM")));

    Object.assign(options, { amqpUrl: other.amqpUrl, management: other.management });
    await start();
    await system.untilStatus(ids, "Processing", 60_000);
    await system.check({ maxOverlapMs: 0, timeoutMs: 60_000 });
    await tasks.untilAllOver();
    expect((await tasks.idsOf("Completed")).toSorted()).toEqual([first, ...waiting].toSorted());
  },
  240_000,
);
