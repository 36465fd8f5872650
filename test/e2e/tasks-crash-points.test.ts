import { newTaskId } from "@unacked/contracts";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { type CrashPoint, diesAt } from "../support/processes/crash-point.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";
import { HeldStep, type Where } from "../support/tasks/held-step.ts";

const KILLED = { code: null, signal: "SIGKILL" };
const ENV = { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "2" };

/** With a key it is not Sent before it is claimed. */
const CLAIMED = { key: "claimed" };
const MARK = "the one that is not to be published";

/** The crash table of docs/decisions/0011-tasks.md. */
describe("a process that dies between two steps of a task", () => {
  let system: System;
  let tasks: Tasks;
  beforeEach(async () => {
    system = await freshSystem();
    tasks = new Tasks(system);
  });
  afterEach(() => system.close());

  const ofManager: [string, CrashPoint, { sends: number }][] = [
    ["commits the claim and dies before it publishes", "publish unacked.tasks", { sends: 2 }],
    ["has published and dies before the confirm", "confirm unacked.tasks", { sends: 1 }],
    ["applies the end and dies before it acks", "ack unacked.events", { sends: 1 }],
  ];
  test.each(inTurn(ofManager))("manager: it %s; the task ends once, and has run once", async (_, point, { sends }) => {
    const doomed = await system.startManager({ env: diesAt(point, 0, point.startsWith("ack") ? "TaskEnded" : "") });
    await system.startService("worker-1", { env: ENV });
    const { id } = await tasks.create({}, CLAIMED);
    expect(await doomed.exited).toEqual(KILLED);
    await system.startManager();
    await expectEnd(id, sends);
  });

  const beforeCommit: [string, Where][] = [
    ["claims", { before: "UPDATE", when: "NEW.status = 'Sent' AND OLD.status = 'Ready'" }],
    ["applies the end", { before: "DELETE", when: "true" }],
  ];
  test.each(beforeCommit.filter((_, place) => isTurnOf(place)))(
    "manager: it %s and dies before the commit; the task ends once, and has run once",
    async (_, where) => {
      const doomed = await system.startManager();
      await system.startService("worker-1", { env: ENV });
      const step = await HeldStep.at(system.env.DATABASE_URL as string, where);
      const { id } = await tasks.create({}, CLAIMED);
      await step.untilReached();
      await doomed.kill("SIGKILL");
      await step.cutOff();
      await system.startManager();
      await expectEnd(id, 1);
    },
  );

  /* What a worker is free for is Sent as it is created. Whoever asked for it gets no answer, and asks again with the same id. */

  const atOnce: [string, CrashPoint, { sends: number }][] = [
    ["commits what it has Sent and dies before it publishes", "publish unacked.tasks", { sends: 2 }],
    ["has published that and dies before the confirm", "confirm unacked.tasks", { sends: 1 }],
  ];
  test.each(atOnce.filter((_, place) => isTurnOf(place + 1)))(
    "manager: it %s; the task ends once, and has run once",
    async (_, point, { sends }) => {
      const doomed = await system.startManager({ env: diesAt(point, 0, MARK) });
      await system.startService("worker-1", { env: ENV });
      await untilSentAtOnce();
      const request = marked();
      await tasks.createAny(request).catch(() => undefined); // its answer may be gone with the manager
      expect(await doomed.exited).toEqual(KILLED);
      await system.startManager();
      expect(await tasks.createAny(request)).toMatchObject({ status: 200 });
      await expectEnd(request.id, sends);
    },
  );

  test.runIf(isTurnOf(0))(
    "manager: it has inserted what is Sent and dies before the commit; asked again, it is created, and runs once",
    async () => {
      const doomed = await system.startManager();
      await system.startService("worker-1", { env: ENV });
      await untilSentAtOnce();
      const step = await HeldStep.at(system.env.DATABASE_URL as string, { before: "INSERT", when: "NEW.status = 'Sent'" });
      const reached = step.untilReached().then(() => "reached" as const);
      let [request, asked] = ask();
      // Where an insert has just been slow, the next ones wait to be claimed.
      while ((await Promise.race([reached, asked])) !== "reached") [request, asked] = ask();
      await doomed.kill("SIGKILL");
      await asked;
      await step.cutOff();
      await system.startManager();
      expect(await tasks.createAny(request)).toMatchObject({ status: 201 });
      await expectEnd(request.id, 1);
    },
  );

  test.runIf(isTurnOf(1))(
    "the database commits what is Sent, and the manager never hears of it; asked again it is there, and runs once",
    async () => {
      const wire = await tcpProxy(system.env.DATABASE_URL as string);
      await system.startManager({ env: { DATABASE_URL: wire.through(system.env.DATABASE_URL as string) } });
      await system.startService("worker-1", { env: ENV });
      await untilSentAtOnce();
      // Written with the commit, in one packet; of this transaction, and not what a manager claims meanwhile.
      const when = "EXISTS (SELECT FROM tasks WHERE status = 'Sent' AND created_at = now())";
      const step = await HeldStep.at(system.env.DATABASE_URL as string, { table: "audit", before: "INSERT", when });
      const reached = step.untilReached().then(() => "reached" as const);
      let [request, asked] = ask();
      // Where an insert has just been slow, the next ones wait to be claimed.
      while ((await Promise.race([reached, asked])) !== "reached") [request, asked] = ask();
      wire.blackhole("to-client");
      await step.letGo();
      const db = new pg.Client({ connectionString: system.env.DATABASE_URL });
      await db.connect();
      onTestFinished(() => db.end());
      const inBooks = async () => (await db.query("SELECT status FROM tasks WHERE id = $1", [request.id])).rows;
      await eventually(async () => expect(await inBooks()).toEqual([{ status: "Sent" }]));
      wire.reset();
      await wire.heal();
      expect(await asked).not.toMatchObject({ status: 201 });
      await eventually(async () => expect(await tasks.createAny(request)).toMatchObject({ status: 200 }));
      await expectEnd(request.id, 2);
    },
  );

  const ask = () => {
    const request = marked();
    return [request, tasks.createAny(request).catch(() => undefined)] as const;
  };
  const marked = () => ({ id: newTaskId(), type: "work", params: { dir: tasks.dir, answer: MARK } });

  /** The manager knows that there is a worker, and nothing waits. */
  async function untilSentAtOnce(): Promise<void> {
    await eventually(async () => {
      const { id, status } = await tasks.create();
      await tasks.untilStatus(id, "Completed");
      expect(status).toBe("Sent");
    });
  }

  async function expectEnd(id: string, sends: number): Promise<void> {
    await tasks.untilStatus(id, "Completed");
    expect(await tasks.get(id)).toMatchObject({ sends, failures: 0 });
    expect(tasks.runs().get(id)).toBe(1);
    expect((await tasks.list(`q=${id}&limit=10`)).items.map((task) => task.id)).toEqual([id]);
    await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).total).toBe(0));
  }

  test.runIf(isTurnOf(2))(
    "service: it was given the task and dies before it tells of it; it runs elsewhere, uncounted",
    async () => {
      await system.startManager();
      const doomed = await system.startService("worker-1", { env: { ...ENV, ...diesAt("deliver unacked.tasks") } });
      const { id } = await tasks.create();
      expect(await doomed.exited).toEqual(KILLED);
      await system.startService("worker-2", { env: ENV });
      await expectEnd(id, 1);
      expect(await tasks.get(id)).toMatchObject({ interruptions: 0 });
    },
  );

  test.runIf(isTurnOf(0))(
    "manager: it dies as it is about to end what nobody wants any more, and so does the next; it is ended within half a minute all the same",
    async () => {
      const order: CrashPoint = "publish unacked.service";
      const first = await system.startManager({ env: diesAt(order, 0, "CancelTasks") });
      await system.startService("worker-1", { env: { ...ENV, TASK_WORKERS: "1" } });
      const { id: before } = await tasks.create({ ms: 20_000 });
      await tasks.untilStatus(before, "Running");
      const { id } = await tasks.create({ ms: 59_000 });
      await tasks.untilStatus(id, "Sent");
      await system.call("DELETE", `/api/v1/tasks/${id}`).catch(() => undefined);
      expect(await first.exited).toEqual(KILLED);
      const second = await system.startManager({ env: diesAt(order, 0, "CancelTasks") });
      await tasks.untilStatus(id, "Cancelled");
      expect(await second.exited).toEqual(KILLED); // as it hears that it has begun all the same
      const begunMs = performance.now();
      await system.startManager();
      const { id: after } = await tasks.create();
      await eventually(async () => expect((await tasks.get(after)).status).toBe("Completed"), { timeoutMs: 90_000 });
      expect([tasks.runs().get(id), tasks.runs().get(after)]).toEqual([1, 1]);
      expect(performance.now() - begunMs).toBeLessThan(50_000);
    },
  );

  const ofService: [string, CrashPoint, number][] = [
    ["is about to tell the end", "publish unacked.events", 2],
    ["has told the end and dies before the confirm", "confirm unacked.events", 2],
    ["has the confirm of the end and dies before the ack", "ack unacked.tasks", 0],
  ];
  test.each(inTurn(ofService))("service: it %s; the task ends once, and runs once more at most", async (_, point, after) => {
    await system.startManager();
    const doomed = await system.startService("worker-1", { env: { ...ENV, ...diesAt(point, after) } });
    const { id } = await tasks.create({ ms: 200 });
    expect(await doomed.exited).toEqual(KILLED);
    await system.startService("worker-2", { env: ENV });
    await tasks.untilStatus(id, "Completed");
    await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).total).toBe(0));
    expect((await tasks.list("limit=10")).items.map(({ status }) => status)).toEqual(["Completed"]);
    expect(tasks.runs().get(id)).toBeLessThanOrEqual(2);
    const { items } = (await system.call<{ items: unknown[] }>("GET", "/api/v1/errors")).body;
    expect(items).toEqual([]);
  });
});
