import { afterAll, beforeAll, expect, test } from "vitest";
import { type MessageTrace, traceMessages } from "../support/broker/message-trace.ts";
import { eventually } from "../support/eventually.ts";
import { classified, complaintsOf, kindsIn, presentSchemas, presentVersion } from "../support/messages/golden-messages.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let tasks: Tasks;
let trace: MessageTrace;

beforeAll(async () => {
  system = await freshSystem();
  trace = await traceMessages(system.env.AMQP_URL ?? "", system.management);
  await system.startManager();
  await system.startService("worker", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "1" } });
  tasks = new Tasks(system);
});
afterAll(async () => {
  await trace.close();
  await system.close();
});

const sent = () => trace.messages.map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);
const kindsSent = () => new Set(sent().flatMap((body) => classified(body).kinds));

/** Enough have run for their type to be known as short, and the next ones travel together. */
const untilBundled = () =>
  eventually(
    async () => {
      await tasks.createMany(25);
      await tasks.untilAllOver();
      expect(kindsSent()).toContain("TaskBundle");
    },
    { timeoutMs: 30_000, what: "a bundle" },
  );

test.runIf(isTurnOf(1))(
  "Every kind of message about tasks is sent by what sets it off, and is such as this version takes",
  async () => {
    const { id } = await tasks.create({ ms: 600_000 });
    await tasks.untilStatus(id, "Running");
    const waiting = await tasks.create();
    await tasks.untilStatus(waiting.id, "Sent");
    await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).ready).toBe(1));
    await system.management.purge("unacked.tasks.default");
    await eventually(() => expect(kindsSent()).toContain("TaskMarker"), { timeoutMs: 40_000, what: "a marker" });
    const itRuns = () => expect(kindsSent()).toContain("TasksRunning"); // of what has for 30 s
    await eventually(itRuns, { timeoutMs: 60_000, what: "that one runs still" });
    await system.call("DELETE", `/api/v1/tasks/${id}`);
    expect((await tasks.get(id, "20s")).status).toBe("Cancelled");
    expect((await tasks.get(waiting.id, "30s")).status).toBe("Completed");
    await untilBundled();
    // One that takes long, against what is known of its type: those behind it are not kept waiting.
    await tasks.createMixed([{ ms: 4_000 }, ...Array.from({ length: 9 }, () => ({}))]);
    await eventually(() => expect(kindsSent()).toContain("TaskReturned"), { what: "tasks that waited for too long" });
    await tasks.untilAllOver();
    const last = await tasks.create({ ms: 600_000 });
    await tasks.untilStatus(last.id, "Running");
    await system.service("worker").kill("SIGTERM");
    const isOurs = (kind: string) => kind.includes("Task");
    const missing = () => [...kindsIn(presentSchemas())].filter((kind) => isOurs(kind) && !kindsSent().has(kind));
    await eventually(() => expect(missing()).toEqual([]));
    const complaints = complaintsOf(presentVersion);
    for (const body of sent()) {
      const { decoder, kinds } = classified(body);
      if (kinds.some(isOurs)) expect(complaints(decoder, body), JSON.stringify(body)).toEqual([]);
    }
  },
);
