import { type ControlMessage, newMessageId, type ObserverView, type StartObserver } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MessageTrace, traceMessages } from "../support/broker/message-trace.ts";
import { eventually } from "../support/eventually.ts";
import {
  classified,
  complaintsOf,
  goldenSchemas,
  goldenVersions,
  kindsIn,
  presentSchemas,
} from "../support/messages/golden-messages.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { queryRows, runStatement } from "../support/servers/servers.ts";
import { change } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** What this test publishes itself, to bring about what seldom happens. */
const OURS = "the test";

describe("every kind of message that the programs send", () => {
  let system: System;
  let trace: MessageTrace;

  beforeAll(async () => {
    system = await freshSystem();
    trace = await traceMessages(system.env.AMQP_URL ?? "", system.management);
    await system.startManager();
    await system.startService("service-1", { workers: 20 });
  });
  afterAll(async () => {
    await trace.close();
    await system.close();
  });

  const sent = () =>
    trace.messages
      .filter(({ exchange, properties }) => exchange !== "unacked.output" && properties.app_id !== OURS)
      .map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);
  const kindsSent = () => new Set(sent().flatMap((body) => classified(body).kinds));
  const untilSent = (kind: string) =>
    eventually(() => expect([...kindsSent()]).toContain(kind), { what: `a ${kind}`, timeoutMs: 30_000 });

  const publish = (exchange: string, routingKey: string, body: object) =>
    system.management.publish({ exchange, routingKey, body: JSON.stringify(body), properties: { app_id: OURS } });
  const order = async (message: ControlMessage) => {
    const [service] = await system.listServices();
    await publish("unacked.service", `${service?.id}.${service?.generation}`, message);
  };
  const startOf = (observerId: string) =>
    sent().find((body) => body.kind === undefined && body.observerId === observerId) as unknown as StartObserver;

  it("is made to be sent by what sets it off", async () => {
    const observers = await system.createMany("observer", 3, {}, { labels: { team: "a" } });
    const [first, second, third] = observers as [ObserverView, ObserverView, ObserverView];
    await system.create("returning", { returnAfterMs: 50 });
    await system.create("failing", { throwAfterMs: 10 }, { retry: { maxAttempts: 2, delaysMs: [10, 20] } });
    for (const kind of ["ServiceBorn", "ServiceAlive", "RunStarted", "RunCompleted", "RunRetrying", "RunFailed"])
      await untilSent(kind);
    await untilSent("ErrorReport");

    await system.call("POST", `/api/v1/observers/${first.id}/restart`);
    await untilSent("RestartRuns");
    await system.remove(second.id);
    await untilSent("StopObservers");

    // The dispatcher sent one twice; one type is unknown here; a run is told that another took its place.
    const start = startOf(third.id);
    await publish("unacked.start", "default", { ...start, messageId: newMessageId() });
    await untilSent("DuplicateDropped");
    await publish("unacked.start", "default", { ...start, messageId: newMessageId(), type: "unheard-of", revision: 9 });
    await untilSent("StartRefused");
    const { currentRunId } = await system.get(third.id);
    const run = { observerId: start.observerId, messageId: start.messageId, revision: start.revision };
    await order({ kind: "StopRuns", targets: [{ ...run, runId: currentRunId as never, reason: "superseded" }] });
    await untilSent("RunHeld");

    // A run that the books have long ended: the manager stops it.
    await publish("unacked.start", "default", { ...startOf(second.id), messageId: newMessageId(), revision: 2 });
    await untilSent("StopRuns");
    await untilSent("RunStopped");

    await system.management.deleteQueue("unacked.work.default");
    await untilSent("ReportInventory");
    await untilSent("Inventory");
    await system.untilStatus([first.id, third.id], "Processing", 30_000);

    // With nothing to run, it is its silence alone that makes the manager ask.
    await (await system.startService("idle", { env: { POOL: "idle" } })).kill("SIGKILL");
    await untilSent("Probe");
    await untilSent("DeathCertificate");
    // By now it has shown that everybody knows markers: what nobody has is found by them.
    await system.management.deleteQueue("unacked.work.default");
    for (const kind of ["QueueMarker", "StateMarker", "MarkerSeen"]) await untilSent(kind);
    await system.untilStatus([first.id, third.id], "Processing", 30_000);
    // Its message was lost twice: it may run, and yet have to begin again.
    await eventually(
      async () => {
        await system.call("GET", `/api/v1/observers/${first.id}/logs`);
        expect([...kindsSent()]).toContain("LogReply");
      },
      { what: "a LogReply", timeoutMs: 30_000 },
    );
    // One that asks before it starts, where everybody has shown that they know it.
    const asking = { POOL: "asking", OBSERVERS_DIR: compiled("admitted") };
    await system.startService("asking", { env: asking });
    await eventually(
      async () => expect((await system.create("asks", {}, { type: "admitted", pool: "asking" })).status).toBe(201),
      { timeoutMs: 40_000, what: "that an admitted type is taken" },
    );
    await system.create("saves", { everyMs: 600_000 }, { type: "counter", pool: "asking" });
    for (const kind of ["RunRequested", "Admit", "CheckpointSaved"]) await untilSent(kind);
    // The books may be behind what was seen on the wire: of one that has not started they tell nothing.
    await eventually(async () => expect((await system.get("saves")).status).toBe("Processing"));
    const told = await change(system, "saves", { silence: { warnAfterMs: 600_000 } });
    expect([told.status, told.body.pending], JSON.stringify(told.body)).toEqual([202, "update"]);
    for (const kind of ["UpdateRuns", "RunUpdated"]) await untilSent(kind);
    // As in an older dump of the books: a checkpoint is not there, and the service has said more than they know of.
    const { DATABASE_URL: books = "" } = system.env;
    await eventually(async () => expect(await queryRows(books, "SELECT run_id FROM checkpoints")).toHaveLength(1));
    await runStatement(books, "DELETE FROM checkpoints");
    await runStatement(books, "UPDATE services SET last_seq = last_seq - 1 WHERE name = 'asking'");
    await untilSent("TellCheckpoints");
    await system.call("POST", "/api/v1/services/service-1/cordon");
    await untilSent("Cordon");
    await system.call("POST", "/api/v1/services/service-1/uncordon");
    await untilSent("Uncordon");
    await system.call("POST", "/api/v1/services/service-1/reload");
    for (const kind of ["Reload", "ReloadEnded"]) await untilSent(kind);
    // One gives, one takes, and one that has its share already steps aside.
    const startIn = (name: string) => system.startService(name, { workers: 100, env: { POOL: "balanced" } });
    await startIn("gives");
    const many = await system.createMany("balanced", 24, {}, { pool: "balanced" });
    await startIn("has-its-share");
    for (const { id } of many.slice(0, 8))
      expect((await system.call("POST", `/api/v1/observers/${id}/move`)).status).toBe(202);
    await untilSent("ShedRuns");
    await system.untilStatus(
      many.map(({ id }) => id),
      "Processing",
      30_000,
    );
    await startIn("takes");
    await system.call("POST", "/api/v1/pools/balanced/rebalance", {});
    await untilSent("StepAside");
    await system.call("POST", "/api/v1/services/service-1/drain");
    await untilSent("Drain");
    await system.service("service-1").kill("SIGTERM");
    await untilSent("RunReleased");
    await untilSent("ServiceDied");

    const ofObservers = [...kindsIn(presentSchemas())].filter((kind) => !kind.includes("Task")); // see tasks-on-the-wire.test.ts
    expect(ofObservers.filter((kind) => !kindsSent().has(kind))).toEqual([]);
  });

  it.each(goldenVersions)("is such as %s takes, if it knows that kind", (version) => {
    const complaints = complaintsOf(version);
    const known = kindsIn(goldenSchemas(version));
    const bodies = sent();
    expect(bodies.length).toBeGreaterThan(20);
    for (const body of bodies) {
      const { decoder, kinds } = classified(body);
      if (kinds.every((kind) => known.has(kind))) expect(complaints(decoder, body), JSON.stringify(body)).toEqual([]);
    }
  });
});
