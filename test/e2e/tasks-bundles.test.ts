import { afterEach, beforeEach, expect, test } from "vitest";
import { type MessageTrace, traceMessages } from "../support/broker/message-trace.ts";
import { eventually } from "../support/eventually.ts";
import { diesAt } from "../support/processes/crash-point.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let trace: MessageTrace;
let tasks: Tasks;
const ENV = { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "2" };

beforeEach(async () => {
  system = await freshSystem();
  trace = await traceMessages(system.env.AMQP_URL ?? "", system.management);
  await system.startManager();
  tasks = new Tasks(system);
});
afterEach(async () => {
  await trace.close();
  await system.close();
});

const bundles = () => {
  const bodies = trace.messages.map(({ body }) => JSON.parse(body.toString()) as { kind?: string; tasks: unknown[] });
  return bodies.filter(({ kind }) => kind === "TaskBundle");
};

/** Runs tasks until their type is known as short. */
const warmUp = () =>
  eventually(
    async () => {
      await tasks.createMany(25);
      await tasks.untilAllOver();
      expect(bundles().length).toBeGreaterThan(0);
    },
    { timeoutMs: 30_000, what: "a bundle" },
  );

test("Short tasks travel together; each runs once, and no more at a time than there are workers", async () => {
  await system.startService("worker-1", { env: ENV });
  await warmUp();
  const before = bundles().length;
  const ids = await tasks.createMany(1_000);
  await tasks.untilAllOver();
  const sent = bundles().slice(before);
  console.log(`1,000 tasks: ${sent.length} bundles, of ${Math.max(...sent.map((bundle) => bundle.tasks.length))} at most`);
  expect(sent.length).toBeGreaterThan(0);
  const runs = tasks.runs();
  expect(ids.filter((id) => runs.get(id) !== 1)).toEqual([]);
  expect((await tasks.idsOf("Completed")).filter((id) => ids.includes(id))).toHaveLength(1_000);
});

test.runIf(isTurnOf(0))(
  "Of a bundle whose service is killed nothing that is over runs again, and the rest runs elsewhere",
  async () => {
    await system.startService("worker-1", { env: ENV });
    await warmUp();
    await system.startService("worker-2", { env: ENV });
    const alreadyRun = tasks.runs().size;
    const ids = await tasks.createMany(400, { ms: 15 });
    await eventually(() => expect(tasks.runs().size).toBeGreaterThan(alreadyRun + 100));
    const over = (await tasks.idsOf("Completed")).filter((id) => ids.includes(id));
    await system.service("worker-1").kill("SIGKILL");
    await tasks.untilAllOver();
    const runs = tasks.runs();
    expect(over.filter((id) => runs.get(id) !== 1)).toEqual([]);
    expect((await tasks.idsOf("Completed")).filter((id) => ids.includes(id)).toSorted()).toEqual(ids.toSorted());
    const more = ids.filter((id) => runs.get(id) !== 1);
    console.log(`${over.length} of 400 were over before kill -9; ${more.length} ran more than once`);
    for (const id of more) expect(runs.get(id)).toBe(2);
  },
);

test.runIf(isTurnOf(1))("A bundle whose ends are told, and which is delivered once more, runs nothing twice", async () => {
  const doomed = await system.startService("worker-1", { env: { ...ENV, ...diesAt("ack unacked.tasks", 0, "TaskBundle") } });
  // No round is waited for: it dies in the first, where the type is known as short before all of that were sent.
  await eventually(
    async () => {
      await tasks.createMany(25);
      expect(doomed.exit()).not.toBeNull();
    },
    { timeoutMs: 30_000, what: "the death at the ack of a bundle" },
  );
  const over = await tasks.idsOf("Completed");
  // Who gives it back dies before he acks it: it is given back once more.
  const next = await system.startService("worker-2", { env: { ...ENV, ...diesAt("ack unacked.tasks", 0, "TaskBundle") } });
  expect(await next.exited).toEqual({ code: null, signal: "SIGKILL" });
  await system.startService("worker-3", { env: ENV });
  await tasks.untilAllOver();
  const runs = tasks.runs();
  // What had gone alone, as the last one left of a round does, and was told with the bundle, may run once more: its ack was yet to come.
  expect(over.filter((id) => runs.get(id) !== 1).length).toBeLessThanOrEqual(2);
  await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).total).toBe(0));
});

test.runIf(isTurnOf(2))("A drained service gives the rest of its bundles back: no interruption", async () => {
  await system.startService("worker-1", { env: ENV });
  await warmUp();
  const ids = await tasks.createMixed(Array.from({ length: 60 }, (_, i) => (i % 10 === 9 ? { ms: 5_000 } : {})));
  await eventually(async () => expect((await tasks.list("status=Running&limit=100")).items.length).toBeGreaterThan(0));
  await system.service("worker-1").kill("SIGTERM");
  await system.startService("worker-2", { env: { ...ENV, TASK_WORKERS: "10" } });
  await tasks.untilAllOver();
  for (const id of ids) expect(await tasks.get(id)).toMatchObject({ status: "Completed", interruptions: 0 });
});
