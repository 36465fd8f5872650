import { randomUUID } from "node:crypto";
import type { ErrorEntry, ObserverView, Readiness } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows, runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** Whatever stands in a queue ends among the errors: never a process, and never what stands behind it. */
describe("a poisoned message", () => {
  let system: System;
  let service: RunningProcess;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
    service = await system.startService("service-1");
    await system.createMany("neighbour", 2);
  });
  afterEach(() => system.close());

  const errors = async () => (await system.call<{ items: ErrorEntry[] }>("GET", "/api/v1/errors?limit=100")).body.items;
  const publish = (exchange: string, routingKey: string, body: object | string) =>
    system.management.publish({
      exchange,
      routingKey,
      properties: { delivery_mode: 2 },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const tellBooks = (body: object | string) => publish("unacked.events", "state", body);
  const report = (more: object) =>
    publish("unacked.errors", "error", {
      kind: "ErrorReport",
      reason: "unreadable",
      detail: "d",
      queue: "q",
      reporter: "r",
      body: "b",
      bodyBytes: 1,
      ...more,
    });
  const untilAmongErrors = (detail: RegExp, count = 1) =>
    eventually(async () => expect((await errors()).filter((one) => detail.test(one.detail))).toHaveLength(count));
  /** What stood behind it is read, and all goes on. */
  const allGoesOn = async () => {
    await system.createMany("later", 1);
    expect((await system.call("GET", "/readyz")).status).toBe(200);
    expect(service.exit()).toBe(null);
    await system.check();
  };

  const deep = (text = "") => `${"[".repeat(50_000)}${text}${"]".repeat(50_000)}`;

  it.runIf(isTurnOf(1))("in the state queue, with a number that no column holds, is put to the errors", async () => {
    const alive = { kind: "ServiceAlive", at: 1, workerCount: 1, running: 0, memoryBytes: 0, eventLoopLagMs: 0 };
    const batch = {
      kind: "EventBatch",
      serviceId: randomUUID(),
      serviceName: "x",
      pool: "default",
      workerCount: 1,
      seq: 1,
      generation: 3_000_000_000,
      events: [alive],
    };
    await tellBooks(batch);
    await untilAmongErrors(/generation/);
    const [known] = await system.listServices();
    await tellBooks({ kind: "DeathCertificate", serviceId: known?.id, generation: 3_000_000_000 });
    await untilAmongErrors(/generation/, 2);
    await tellBooks({ ...batch, generation: 1, pool: "elsewhere", events: [{ ...alive, running: 3_000_000_000 }, alive] });
    await untilAmongErrors(/events\/0\/running/);
    await allGoesOn();
  });

  it.runIf(isTurnOf(0))(
    "in the state queue, with as many failed attempts as a number can tell, holds nobody up",
    async () => {
      const run = await eventually(async () => {
        const [current] = await queryRows<{ observerId: string }>(
          system.env.DATABASE_URL as string,
          `SELECT r.observer_id AS "observerId", r.id AS "runId", r.message_id AS "messageId", r.revision
         FROM observers o JOIN runs r ON r.id = o.current_run_id ORDER BY o.name LIMIT 1`,
        );
        expect(current).toBeDefined();
        return { ...current, observerId: current?.observerId, at: Date.now() };
      });
      const batch = {
        kind: "EventBatch",
        serviceId: randomUUID(),
        serviceName: "forger",
        pool: "elsewhere",
        workerCount: 1,
      };
      const retrying = {
        kind: "RunRetrying",
        ...run,
        attempt: 2_147_483_647,
        error: { name: "E", message: "m" },
        delayMs: 0,
      };
      await tellBooks({ ...batch, generation: 1, seq: 1, events: [retrying] });
      await tellBooks({ ...batch, generation: 1, seq: 2, events: [{ kind: "RunStarted", ...run, attempt: 1 }] });
      await eventually(async () => {
        const { body } = await system.call<ObserverView>("GET", `/api/v1/observers/${run.observerId}`);
        expect(body).toMatchObject({ status: "Processing", attempts: 1, restartsLately: 100 });
      });
      expect(await errors()).toEqual([]);
      await allGoesOn();
    },
  );

  it.runIf(isTurnOf(2))("in the error queue is put to the errors, and the honest reports behind it too", async () => {
    const start = {
      observerId: randomUUID(),
      revision: 1,
      messageId: randomUUID(),
      name: "ghost",
      type: "stamp",
      params: { a: "x\u0000y" },
      labels: {},
      retry: {},
      pool: "default",
      createdAt: new Date().toISOString(),
    };
    await report({ reason: "unknown-observer", body: JSON.stringify(start) });
    await report({ bodyBytes: 3_000_000_000 });
    await report({ detail: "with a NUL \u0000", body: "\u0000" });
    for (let i = 0; i < 5; i += 1) await report({ detail: "honest" });
    await untilAmongErrors(/honest/, 5);
    await untilAmongErrors(/bodyBytes/);
    await eventually(async () => expect((await system.management.queue("unacked.error")).total).toBe(0));
    await allGoesOn();
  });

  it.runIf(isTurnOf(0))(
    "in the error queue that is far too long is cut, and as many of them as there are hold nobody up",
    async () => {
      const body = "\u{1F600}".repeat(1_000_000);
      for (let i = 0; i < 30; i += 1) await report({ reason: "bad-params", detail: "long", body, bodyBytes: 4_000_000 });
      await report({ detail: "honest" });
      await untilAmongErrors(/honest/);
      const long = (await errors()).filter(({ detail }) => detail === "long");
      expect(long).toHaveLength(30);
      for (const one of long) {
        expect(Buffer.byteLength(one.body)).toBeLessThanOrEqual(16_384 + 3);
        expect(one.bodyBytes).toBe(4_000_000);
      }
      await allGoesOn();
    },
  );

  it.runIf(isTurnOf(2))("in the tasks' state queue costs only itself", async () => {
    const at = Date.now();
    const ended = { kind: "TaskEnded", runId: randomUUID(), at, startedAt: at, outcome: "completed", output: "1" };
    const odd = ['{"id":{"toString":1,"valueOf":1}}', '{"type":{"toString":1}}', deep(), "null", "{"];
    const workers = (type: string, count: number) => ({
      kind: "TaskWorkers",
      workers: count,
      draining: false,
      types: [{ type, description: "", paramsSchema: { $ref: "#" } }],
    });
    for (const [seq, events] of [
      [{ ...ended, taskId: randomUUID(), sendId: randomUUID(), creations: odd }, workers("after-odd", 1)],
      [workers("too-many", 2_147_483_647)],
      [{ kind: "TaskInventory", markerId: randomUUID(), held: Array.from({ length: 60_000 }, () => 1) }],
    ].entries())
      await publish("unacked.events", "task-state", {
        kind: "TaskEventBatch",
        serviceId: randomUUID(),
        serviceName: "forger",
        pool: "default",
        generation: 1,
        seq: seq + 1,
        events,
      });
    await eventually(async () => {
      expect((await system.call("POST", "/api/v1/tasks", { type: "after-odd", params: { a: 1 } })).status).toBe(201);
    });
    await untilAmongErrors(/events\/0\/workers/);
    await untilAmongErrors(/events\/0\/held\/9: /);
    const counted = async () => (await scrape(system.url)).value("unacked_manager_errors_total", { reason: "unreadable" });
    await eventually(async () => expect(await counted()).toBe(2));
    await eventually(async () => expect((await system.management.queue("unacked.task-state")).total).toBe(0));
    for (const path of ["stats", "tasks", "task-types", "task-figures"])
      expect([path, (await system.call("GET", `/api/v1/${path}`)).status]).toEqual([path, 200]);
    await allGoesOn();
  });

  it.runIf(isTurnOf(2))("that is nested deep ends no process, in whichever queue it stands", async () => {
    const start = JSON.stringify({
      observerId: randomUUID(),
      revision: 1,
      messageId: randomUUID(),
      name: "deep",
      type: "stamp",
      params: "PARAMS",
      labels: {},
      retry: {},
      pool: "default",
      createdAt: new Date().toISOString(),
    });
    await publish("unacked.start", "default", start.replace('"PARAMS"', deep()));
    await publish("unacked.control", "", `{"kind":"StopRuns","targets":[{"observerId":${deep()}}]}`);
    await tellBooks(
      `{"kind":"EventBatch","serviceId":"${randomUUID()}","serviceName":"x","pool":"p","workerCount":1,"generation":1,"seq":1,"events":[{"kind":"RunPaused","why":${deep()}}]}`,
    );
    await publish("unacked.errors", "error", `{"kind":"ErrorReport","body":${deep()}}`);
    await untilAmongErrors(/nested deeper/, 4);
    await report({ reason: "unknown-observer", body: start.replace('"PARAMS"', deep()) });
    await eventually(async () => expect(await errors()).toHaveLength(5));
    const body = `{"name":"deep","type":"stamp","params":${deep()}}`;
    const answer = await fetch(`${system.url}/api/v1/observers`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect([answer.status, await answer.json()]).toMatchObject([422, { code: "invalid-body" }]);
    await allGoesOn();
  });

  it.runIf(isTurnOf(1))("with a field of the wrong kind, or a name that is a trap for maps, costs only itself", async () => {
    for (const more of [
      { type: "__proto__" },
      { labels: JSON.parse('{"__proto__":"x"}') as object },
      { retry: null },
      { pool: 5 },
    ])
      await publish("unacked.start", "default", {
        observerId: randomUUID(),
        revision: 1,
        messageId: randomUUID(),
        name: "odd",
        type: "stamp",
        params: { file: system.actsFile },
        labels: {},
        retry: {},
        pool: "default",
        createdAt: new Date().toISOString(),
        ...more,
      });
    await untilAmongErrors(/\/(retry|pool)/, 2);
    await eventually(async () => expect((await system.management.queue("unacked.work.default")).ready).toBe(0));
    await allGoesOn();
  });

  it.runIf(isTurnOf(1))(
    "or whatever else keeps events from being applied, is told by readiness and a metric within 10 s, and what waits is counted",
    async () => {
      const database = system.env.DATABASE_URL as string;
      await runStatement(database, "ALTER TABLE services RENAME TO services_away");
      const beganMs = performance.now();
      try {
        const stateQueue = await eventually(
          async () => {
            const { status, body } = await system.call<Readiness>("GET", "/readyz");
            expect([status, body.checks["stateQueue"]?.ok]).toEqual([503, false]);
            expect(body.checks["stateQueue"]?.detail).toMatch(/could not be applied for \d+ s .*; [1-9]\d* batches wait/);
            return body.checks["stateQueue"];
          },
          { timeoutMs: 15_000 },
        );
        expect(performance.now() - beganMs).toBeLessThan(10_000 + 50_000); // a service says something every 5 s
        expect(stateQueue?.remedy).toContain("log");
        const metrics = await (await fetch(`${system.url}/metrics`)).text();
        expect(metrics).toMatch(/unacked_manager_failing_seconds\{queue="unacked.state"\} [1-9]/);
      } finally {
        await runStatement(database, "ALTER TABLE services_away RENAME TO services");
      }
      await eventually(async () => expect((await system.call("GET", "/readyz")).status).toBe(200), { timeoutMs: 15_000 });
      await allGoesOn();
    },
  );
});
