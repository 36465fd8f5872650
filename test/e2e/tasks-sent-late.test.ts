import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let tasks: Tasks;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("worker-1", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "10" } });
  tasks = new Tasks(system);
});
afterAll(() => system.close());

/** As a manager does that was frozen between commit and publish. */
const publishLate = (message: object) =>
  system.management.publish({
    exchange: "unacked.tasks",
    routingKey: "default",
    properties: { type: "StartTask", delivery_mode: 2 },
    body: JSON.stringify(message),
  });

const inQueue = async () => (await system.management.queue("unacked.tasks.default")).total;

test.runIf(isTurnOf(0))(
  "A message of an older send that comes to the service that runs the newer one is dropped, and that goes on",
  async () => {
    const { id } = await tasks.create({ ms: 600_000 }, { startAt: new Date(Date.now() + 3_600_000).toISOString() });
    await runStatement(system.env.DATABASE_URL as string, `UPDATE tasks SET sends = 1, due_at = now() WHERE id = '${id}'`);
    await tasks.untilStatus(id, "Running");
    const { type, params } = await tasks.get(id);
    const late = { taskId: id, sendId: randomUUID(), type, params, pool: "default", failures: 0, sends: 1 };
    expect(await publishLate(late)).toBe(true);
    const service = system.service("worker-1");
    await eventually(() => expect(service.lines.filter((line) => line.includes("old-send-dropped"))).toHaveLength(1));
    await eventually(async () => expect(await inQueue()).toBe(1), { timeoutMs: 30_000, what: "one message" });
    expect(tasks.runs().get(id)).toBe(1);
    // Who holds the message of the newer one gives that back as he drains: it runs elsewhere, and this was no crash.
    await system.startService("worker-2", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "10" } });
    await service.kill("SIGTERM");
    await eventually(async () => expect((await tasks.get(id)).service?.name).toBe("worker-2"), {
      timeoutMs: 30_000,
      what: "the move",
    });
    expect(await tasks.get(id)).toMatchObject({ status: "Running", interruptions: 0, sends: 2 });
  },
);
