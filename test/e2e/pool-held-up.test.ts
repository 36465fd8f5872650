import { setTimeout as delay } from "node:timers/promises";
import type { Stats, TimerBatchResults } from "@unacked/contracts";
import { connect } from "amqplib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type OwnBroker, systemOnOwnBroker } from "../support/broker/own-broker.ts";
import { withoutLeader } from "../support/broker/rabbitmqctl.ts";
import { TimerListener } from "../support/broker/timer-listener.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";
import { newIds, Timers } from "../support/time/timers.ts";

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

test.runIf(isTurnOf(0))(
  "A listener's queue that has lost its majority holds up no timer of another name",
  async () => {
    const { system, dir } = own;
    await system.startManager();
    const timers = new Timers(system);
    const listener = await TimerListener.listen(system.env.AMQP_URL as string, "other");
    const model = await connect(system.env.AMQP_URL as string);
    model.on("error", () => undefined); // where this fails it goes with the broker
    const channel = await model.createChannel();
    await channel.assertQueue("stuck", { arguments: { "x-queue-type": "quorum" } });
    await channel.bindQueue("stuck", "unacked.timers", "stuck.#");
    // Of a channel that has met it with its leader it confirms nothing then.
    await timers.put(newIds(1)[0] as string, { inMs: 0, name: "stuck.one" });
    await eventually(async () => expect((await channel.checkQueue("stuck")).messageCount).toBe(1));
    await withoutLeader(dir, "stuck");
    // More than a manager has on its way at a time.
    const at = new Date(Date.now() + 2_000).toISOString();
    const stuck = newIds(3_000).map((id) => ({ id, at, name: "stuck.one" }));
    expect(await system.call<TimerBatchResults>("POST", "/api/v1/timers/batch", { timers: stuck })).toMatchObject({
      status: 200,
    });
    const dueAtMs = new Map<string, number>();
    for (const untilMs = performance.now() + 30_000; performance.now() < untilMs; await delay(500)) {
      const [id] = newIds(1) as [string];
      dueAtMs.set(id, Date.now());
      expect((await timers.put(id, { inMs: 0, name: "other" })).status).toBe(201);
    }
    await timers.untilHeard(listener, [...dueAtMs.keys()]);
    const lateMs = [...dueAtMs].map(([id, dueMs]) => (listener.of(id)[0]?.heardAtMs ?? Number.NaN) - dueMs);
    console.info(`timers of another name were late by ${lateMs.join(", ")} ms`);
    expect(lateMs.filter((ms) => !(ms < 5_000))).toEqual([]);
    const { warnings } = (await system.call<Stats>("GET", "/api/v1/stats")).body;
    expect(warnings).toMatchObject([{ code: "timers-unheard", subject: "stuck.one" }]);
    await model.close();
  },
  240_000,
);
