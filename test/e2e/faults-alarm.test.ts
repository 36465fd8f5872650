import type { ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Rabbitmq, startRabbitmq } from "../../scripts/servers/rabbitmq.mjs";
import { eventually } from "../support/eventually.ts";
import { managementOf } from "../support/management.ts";
import { memoryAlarm } from "../support/rabbitmqctl.ts";
import { freshDatabase, temporaryFolder } from "../support/servers.ts";
import { System } from "../support/system.ts";
import { BROKER_TEST_CONFIG } from "../support/test-servers.ts";

const HEARTBEAT_S = 4;

describe("while a memory alarm blocks whoever publishes", () => {
  const dir = temporaryFolder("rabbitmq");
  let endBroker = async (): Promise<void> => undefined;
  let system: System;

  beforeAll(async () => {
    const broker: Rabbitmq = await startRabbitmq({ dir, config: BROKER_TEST_CONFIG });
    endBroker = () => broker.kill().then(broker.stop);
    const { databaseUrl } = await freshDatabase();
    const management = managementOf(broker.managementUrl, "/");
    system = new System({ amqpUrl: broker.amqpUrl, databaseUrl, management, heartbeatS: HEARTBEAT_S });
    await system.startManager();
  });
  afterAll(async () => {
    await system?.close();
    await endBroker();
  });

  it("a frozen service's observers run on the other within 4 heartbeats, and no end is acked before it is told", async () => {
    const frozen = await system.startService("service-1", { workers: 10 });
    const moving = await system.createMany("moving", 10);
    const other = await system.startService("service-2", { workers: 10 });
    const ending = await system.startService("service-3", { workers: 5, env: { POOL: "ending" } });
    const [stopped, kept] = (await system.createMany("stopped", 2, {}, { pool: "ending" })) as [ObserverView, ObserverView];
    const returning = await system.createMany("returning", 3, { returnAfterMs: 10_000 }, { pool: "ending" });
    await memoryAlarm(dir, true);
    expect((await system.call("DELETE", `/api/v1/observers/${stopped.id}`)).status).toBe(202);

    await frozen.kill("SIGSTOP");
    const frozenMs = performance.now();
    const ids = moving.map((one) => one.id);
    await eventually(() => expect(system.actingByPid().get(other.pid)).toEqual(new Set(ids)), {
      timeoutMs: 4 * HEARTBEAT_S * 1_000,
    });
    console.log(
      `alarm on, service frozen: its 10 observers run elsewhere after ${(performance.now() - frozenMs).toFixed(0)} ms`,
    );
    await frozen.kill("SIGKILL"); // what it would do on waking is another test's

    // Their handlers have returned, and cannot say so: the messages stay unacked, so that nothing is lost if they die.
    const { url } = await ending.waitForEvent("listening");
    const readiness = async () => {
      const answer = await fetch(`${String(url)}/readyz`);
      return { status: answer.status, body: (await answer.json()) as { eventsWaiting: number; publisher: object } };
    };
    await eventually(() =>
      expect([...(system.actingByPid().get(ending.pid) ?? [])].toSorted()).toEqual([kept.id, stopped.id].toSorted()),
    );
    await eventually(async () => expect((await readiness()).body.eventsWaiting).toBeGreaterThanOrEqual(3));
    expect(await readiness()).toMatchObject({ status: 503, body: { publisher: { up: true, blocked: true } } });
    expect(await system.management.queue("unacked.work.ending")).toMatchObject({ unacked: 5, ready: 0 });
    expect((await system.observers(returning.map((one) => one.id))).map((one) => one.status)).toEqual(
      returning.map(() => "Processing"),
    );
    expect((await system.get(stopped.id)).status).toBe("OnDeleting");

    await memoryAlarm(dir, false);
    const endedMs = performance.now();
    await system.untilStatus(
      returning.map((one) => one.id),
      "Completed",
    );
    await system.untilStatus([stopped.id], "Deleted");
    console.log(`alarm over: every end is in the books after ${(performance.now() - endedMs).toFixed(0)} ms`);
    await system.check();
  }, 90_000);
});
