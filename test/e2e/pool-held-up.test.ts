import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type OwnBroker, systemOnOwnBroker } from "../support/broker/own-broker.ts";
import { withoutLeader } from "../support/broker/rabbitmqctl.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

const env = { WORK_QUEUE_TYPE: "quorum" };

let own: OwnBroker;
beforeEach(async () => {
  own = await systemOnOwnBroker();
}, 240_000);
afterEach(() => own.close());

test.runIf(isTurnOf(1))(
  "A pool whose quorum queue has lost its majority holds up no stop of another pool's observer",
  async () => {
    const { system, dir } = own;
    await system.startManager({ env });
    await system.startService("service-1", { env });
    const running = await system.createMany("runs", 4, {});
    await delay(12_000); // until it is known that all managers can start at a time
    expect((await system.create("stuck-0", {}, { pool: "a", whenFull: "queue" })).status).toBe(201);
    await eventually(async () => expect((await system.management.queue("unacked.work.a")).ready).toBe(1));
    await withoutLeader(dir, "unacked.work.a");
    // It is sent by the dispatcher, as restarts, repairs and resumptions are.
    const startAt = new Date(Date.now() + 2_000).toISOString();
    const { status, body } = await system.create("stuck-1", {}, { pool: "a", whenFull: "queue", startAt });
    expect(status, JSON.stringify(body)).toBe(201);
    await system.untilStatus(["stuck-1"], "Created");
    const tookMs: number[] = [];
    for (const { id } of running) {
      await delay(500);
      const sinceMs = performance.now();
      expect((await system.call("DELETE", `/api/v1/observers/${id}`)).status).toBe(202);
      await system.untilStatus([id], "Deleted", 60_000);
      tookMs.push(Math.round(performance.now() - sinceMs));
    }
    console.info(`observers of another pool were Deleted after ${tookMs.join(", ")} ms`);
    expect(tookMs.filter((ms) => ms > 9_000)).toEqual([]); // 10 s is what the broker has for a confirm
  },
  240_000,
);

test.runIf(isTurnOf(2))(
  "A pool whose queue of tasks has lost its majority holds up no task of another pool",
  async () => {
    const { system, dir } = own;
    await system.startManager({ env });
    const serve = (pool: string, workers: number) =>
      system.startService(`service-${pool}`, {
        env: { ...env, OBSERVERS_DIR: TASKS_DIR, POOL: pool, TASK_WORKERS: String(workers) },
      });
    await Promise.all([serve("a", 1_000), serve("b", 5)]);
    const tasks = new Tasks(system);
    // As long as that, each travels alone.
    await tasks.untilStatus((await tasks.create({ ms: 2_000 }, { pool: "a" })).id, "Completed");
    await withoutLeader(dir, "unacked.tasks.a");
    // RabbitMQ bears 32 messages that are not confirmed, and then reads some hundred more.
    await tasks.createMany(1_000, {}, { pool: "a" });
    const tookMs: number[] = [];
    for (const untilMs = performance.now() + 25_000; performance.now() < untilMs; ) {
      await delay(500);
      const sinceMs = performance.now();
      const { id } = await tasks.create({}, { pool: "b" });
      expect(await tasks.get(id, "60s")).toMatchObject({ status: "Completed" });
      tookMs.push(Math.round(performance.now() - sinceMs));
    }
    console.info(`tasks of another pool were Completed after ${tookMs.join(", ")} ms`);
    expect(tookMs.filter((ms) => ms > 5_000)).toEqual([]);
  },
  240_000,
);
