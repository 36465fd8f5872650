import { randomUUID } from "node:crypto";
import type { ErrorEntry, ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshSystem, type System } from "../support/system/system.ts";

describe("malformed messages", () => {
  let system: System;
  let neighbours: ObserverView[];

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("service-1", { workers: 20 });
    neighbours = await system.createMany("neighbour", 9);
  });
  afterAll(() => system.close());

  const errors = async () => (await system.call<{ items: ErrorEntry[] }>("GET", "/api/v1/errors?limit=100")).body.items;

  const neighboursGoOn = async () => {
    const now = await system.observers(neighbours.map((one) => one.id));
    expect(now.map((one) => one.currentRunId)).toEqual(neighbours.map((one) => one.currentRunId));
    await system.check();
  };

  it("in the work queue end among the errors with a reason, and every neighbour keeps running", async () => {
    const publish = (body: string | Buffer) =>
      system.management.publish({
        exchange: "unacked.start",
        routingKey: "default",
        body,
        properties: { delivery_mode: 2 },
      });
    await publish("this is not JSON");
    await publish(JSON.stringify({ observerId: "no-id", name: "half" }));
    await publish(Buffer.alloc(1_048_576, "x"));
    const found = await eventually(async () => {
      const mine = (await errors()).filter((one) => one.queue === "unacked.work.default");
      expect(mine).toHaveLength(3);
      return mine;
    });
    expect(found.map((one) => one.reason)).toEqual(["unreadable", "unreadable", "unreadable"]);
    expect(found.map((one) => one.detail).join("\n")).toMatch(/not JSON[\s\S]*\/observerId/);
    expect(found.find((one) => one.bodyBytes === 1_048_576)?.body.length).toBeLessThanOrEqual(16_384);
    await eventually(async () => expect((await system.management.queue("unacked.error")).total).toBe(0));
    await neighboursGoOn();
  });

  it("in the state queue end among the errors with a reason, and the queue goes on", async () => {
    const publish = (body: string | Buffer) =>
      system.management.publish({ exchange: "unacked.events", routingKey: "state", body, properties: { delivery_mode: 2 } });
    await publish("{");
    await publish(JSON.stringify({ kind: "EventBatch", serviceId: randomUUID(), events: [] }));
    await publish(Buffer.alloc(1_048_576, "y"));
    await eventually(async () => {
      const mine = (await errors()).filter((one) => one.queue === "unacked.state");
      expect(mine.map((one) => one.reason)).toEqual(["unreadable", "unreadable", "unreadable"]);
    });
    await neighboursGoOn();
  });

  it("with a text that the database cannot hold are applied, with what it can hold of it", async () => {
    const { body } = await system.create("beside", {}, { whenFull: "queue" });
    await system.untilStatus([body.id], "Processing");
    const started = (await system.get(body.id)).currentRunId;
    // Batches of a service nobody knows: one event with a NUL in its text between two good ones.
    const [a, b] = neighbours as [ObserverView, ObserverView];
    const run = (observer: ObserverView) => ({
      observerId: observer.id,
      runId: observer.currentRunId,
      messageId: randomUUID(),
      revision: 1,
      at: Date.now(),
    });
    const retrying = (observer: ObserverView, message: string) => ({
      kind: "RunRetrying",
      ...run(observer),
      attempt: 1,
      error: { name: "Error", message },
      delayMs: 10,
    });
    const stranger = { serviceId: randomUUID(), serviceName: "stranger", pool: "elsewhere", workerCount: 1, generation: 1 };
    const say = (seq: number, ...events: object[]) =>
      system.management.publish({
        exchange: "unacked.events",
        routingKey: "state",
        body: JSON.stringify({ kind: "EventBatch", ...stranger, seq, events }),
      });
    await say(1, retrying(a, "fine"), retrying(b, "before\u0000after"), { ...run(a), kind: "RunStarted", attempt: 1 });
    await eventually(async () =>
      expect(await system.get(b.id)).toMatchObject({ status: "Retrying", lastError: { message: "before\uFFFDafter" } }),
    );
    expect(await system.get(a.id)).toMatchObject({ status: "Processing", lastError: { message: "fine" } });
    await say(2, { ...run(b), kind: "RunStarted", attempt: 1 });
    await system.untilStatus([b.id], "Processing");
    expect((await system.get(body.id)).currentRunId).toBe(started);
    await neighboursGoOn();
  });

  it("that announce a type whose schema would be checked by a promise end no manager", async () => {
    const at = Date.now();
    const paramsSchema = { $async: true, type: "object", required: ["name"] };
    const types = [{ type: "by-promise", description: "", paramsSchema }];
    const about = { version: "1.0.0", host: "h", pid: 1, heartbeatMs: 10_000 };
    const born = { kind: "ServiceBorn", at, pool: "promises", workerCount: 1, types, ...about };
    const serviceId = randomUUID();
    await system.management.publish({
      exchange: "unacked.events",
      routingKey: "state",
      body: JSON.stringify({
        kind: "EventBatch",
        ...{ serviceId, serviceName: "promising", pool: "promises", workerCount: 1, generation: 1, seq: 1 },
        events: [born],
      }),
    });
    await eventually(async () => expect((await system.listServices()).map(({ id }) => id)).toContain(serviceId));
    const json = { name: "promised", type: "by-promise", pool: "promises", params: {} };
    for (let i = 0; i < 3; i += 1)
      expect(await system.call("POST", "/api/v1/observers", json)).toMatchObject({
        status: 422,
        body: { code: "invalid-body", errors: [{ pointer: "/params/name" }] },
      });
    await neighboursGoOn();
  });
});
