import { randomUUID } from "node:crypto";
import {
  type AuditPage,
  type ErrorEntry,
  type ErrorPage,
  newMessageId,
  newObserverId,
  newRunId,
  type ObserverView,
  type ReportedStart,
  type StartObserver,
} from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startMessage } from "../support/system/observer-service.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** What a service's broker user may write: events in any service's name, and reports of errors. */
describe("a report of an unknown observer that no service has made", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("victim", { env: { POOL: "privileged" } });
    await system.startService("own");
  });
  afterAll(() => system.close());

  const startOf = (fields: Partial<StartObserver>): StartObserver =>
    startMessage({ name: `forged-${randomUUID().slice(0, 8)}`, params: { file: system.actsFile }, ...fields });

  const publish = (exchange: string, routingKey: string, body: object) =>
    system.management.publish({ exchange, routingKey, properties: { delivery_mode: 2 }, body: JSON.stringify(body) });

  /** Says that a service of the pool `default` runs it, and waits until the manager has ordered that to stop. */
  async function haveItsRunStopped({ observerId, messageId, revision }: StartObserver): Promise<string> {
    const runId = newRunId();
    const serviceId = randomUUID();
    const at = Date.now();
    await publish("unacked.events", "state", {
      kind: "EventBatch",
      serviceId,
      serviceName: "forger",
      pool: "default",
      workerCount: 1,
      generation: 1,
      seq: 1,
      events: [{ kind: "RunStarted", observerId, messageId, revision, runId, at, attempt: 1 }],
    });
    await eventually(async () => {
      const all = await system.listServices("?all=true");
      expect(all.map((one) => one.id)).toContain(serviceId);
    });
    return runId;
  }

  async function report(start: ReportedStart, runId: string): Promise<void> {
    const body = JSON.stringify(start);
    const { observerId } = start;
    const about = { reason: "unknown-observer", detail: "forged", queue: "q", reporter: "r", observerId, runId };
    await publish("unacked.errors", "error", { kind: "ErrorReport", ...about, body, bodyBytes: body.length });
  }

  async function reported(start: ReportedStart, runId: string = newRunId()): Promise<ErrorEntry> {
    const { observerId } = start;
    await report(start, runId);
    return await eventually(async () => {
      const { body: page } = await system.call<ErrorPage>("GET", `/api/v1/errors?observer=${observerId}`);
      expect(page.items).toHaveLength(1);
      return page.items[0] as ErrorEntry;
    });
  }

  async function nothingCameOfIt({ name, observerId }: StartObserver): Promise<void> {
    expect((await system.call("GET", `/api/v1/observers/${name}`)).status).toBe(404);
    expect(system.acts().filter((act) => act.observerId === observerId)).toEqual([]);
  }

  it("starts nothing: the manager has ordered no such run to stop", async () => {
    const start = startOf({ pool: "privileged" });
    expect((await reported(start)).detail).toMatch(/^not taken back: the manager has ordered no such run to stop/);
    await nothingCameOfIt(start);
  });

  it("starts nothing in another pool than that of the service whose run was stopped", async () => {
    const start = startOf({ pool: "privileged" });
    const runId = await haveItsRunStopped(start);
    expect((await reported(start, runId)).detail).toMatch(/forger, which ran it, is in pool default/);
    await nothingCameOfIt(start);
  });

  it.each<[string, Partial<StartObserver>, RegExp]>([
    ["another observer's message", { observerId: newObserverId() }, /not that of the run that was ordered to stop/],
    ["another message", { messageId: newMessageId() }, /not that of the run that was ordered to stop/],
    ["more labels than a create takes", { labels: manyLabels() }, /at most 32 labels/],
    ["an age beyond the retention", { createdAt: "2001-01-01T00:00:00Z" }, /longer ago than the retention/],
  ])("with %s starts nothing", async (_, difference, why) => {
    const start = startOf({});
    const runId = await haveItsRunStopped(start);
    const forged = { ...start, ...difference };
    expect((await reported(forged, runId)).detail).toMatch(why);
    await nothingCameOfIt(forged);
  });

  /** Restored books may have yet to hear of its type, or of its params. */
  it("with params that its type refuses enters no handler: what is recorded is Failed, as any such observer", async () => {
    const start = startOf({ params: { file: 7 } });
    const runId = await haveItsRunStopped(start);
    await report(start, runId);
    await system.untilStatus([start.observerId], "Failed");
    expect((await system.get(start.observerId)).lastError?.name).toBe("InvalidParams");
    expect(system.acts().filter((act) => act.observerId === start.observerId)).toEqual([]);
  });

  it("of a type that nobody has waits for a service that has it", async () => {
    const start = startOf({ type: "no-such-type" });
    const runId = await haveItsRunStopped(start);
    await report(start, runId);
    await eventually(async () =>
      expect(await system.get(start.observerId)).toMatchObject({ status: "Created", lastError: { name: "UnknownType" } }),
    );
  });

  it("can be retried by an operator, who then stands in the audit trail", async () => {
    const start = startOf({});
    const checkpoint = { number: 7, value: '{"n":7}' };
    const { id } = await reported({ ...start, fencingToken: 5_000, checkpoint });
    const { status, body } = await system.call<ObserverView>("POST", `/api/v1/errors/${id}/retry`);
    expect([status, body]).toMatchObject([202, { id: start.observerId, name: start.name, revision: 2 }]);
    await system.untilStatus([start.observerId], "Processing");
    const given = await system.call("GET", `/api/v1/observers/${start.observerId}/checkpoint`);
    expect(given.body).toMatchObject({ number: 7, value: { n: 7 } });
    expect((await system.get(start.observerId)).fencingToken).toBeGreaterThan(5_000);
    const { body: audit } = await system.call<AuditPage>("GET", `/api/v1/audit?observer=${start.observerId}`);
    expect(audit.items).toMatchObject([{ action: "error.retry", details: { errorId: id }, actor: { name: "anonymous" } }]);
  });

  it("leaves no trace of a take-back in the audit trail but of what was recorded", async () => {
    const { body } = await system.call<AuditPage>("GET", "/api/v1/audit?action=observer.take-back");
    expect(body.items.map(({ actor, count }) => [actor.name, count])).toEqual([
      ["forger", 1],
      ["forger", 1],
    ]);
  });
});

function manyLabels(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`label-${i}`, "x"]));
}
