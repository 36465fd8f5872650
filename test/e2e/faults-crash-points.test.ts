import { randomUUID } from "node:crypto";
import type { ErrorEntry, ObserverView, RunView, ServiceView } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { supervised } from "../support/broker/broker-client.ts";
import { eventually } from "../support/eventually.ts";
import { diesAt } from "../support/processes/crash-point.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const KILLED = { code: null, signal: "SIGKILL" };

let system: System;
beforeEach(async () => {
  system = await freshSystem();
});
afterEach(() => system.close());

const runsOf = async (id: string) =>
  (await system.call<{ items: RunView[] }>("GET", `/api/v1/observers/${id}/runs`)).body.items;

describe("a service that dies between the confirmed end of a run and the ack of its message", () => {
  const AGAIN_MS = 8_000; // in its second life the handler would go on for as long as in its first

  const ends: [string, string, object][] = [
    ["stopped", "Deleted", {}],
    ["failed", "Failed", { throwAfterMs: AGAIN_MS }],
    ["completed", "Completed", { returnAfterMs: AGAIN_MS }],
    ["been paused", "Paused", {}],
  ];
  it.each(inTurn(ends))(
    "leaves a message that starts an observer that has %s once more: it stays %s, and that run is stopped at once",
    async (_, status, params) => {
      await system.startManager();
      const doomed = await system.startService("service-1", { env: diesAt("ack unacked.start") });
      const [observer] = (await system.createMany("observer", 1, params, { retry: { maxAttempts: 1 } })) as [ObserverView];
      const { id } = observer;
      if (status === "Deleted") expect((await system.call("DELETE", `/api/v1/observers/${id}`)).status).toBe(202);
      if (status === "Paused")
        await eventually(async () => expect((await system.call("POST", `/api/v1/observers/${id}/pause`)).status).toBe(202), {
          what: "that pauses are taken",
          timeoutMs: 40_000,
        });
      expect(await doomed.exited).toEqual(KILLED);
      await system.untilStatus([id], status);
      // It was not acked: what is under test is the second life of this message.
      await eventually(async () => expect((await system.management.queue("unacked.work.default")).ready).toBe(1));

      const told = await followEvents(`${system.url}/api/v1/events`);
      await eventually(() => told.events.some((one) => one.event === "ready"));
      system.mayStartOnceMore(id);
      const second = await system.startService("service-2");
      const acts = () => system.acts().filter((act) => act.pid === second.pid && act.observerId === id);
      await eventually(() => acts().some((act) => act.kind === "stop"));
      const [first, last] = [acts()[0], acts().at(-1)];
      const livedMs = Number((last?.monotonicNs ?? 0n) - (first?.monotonicNs ?? 0n)) / 1e6;
      console.log(`${status}: the run that appeared was stopped after ${livedMs.toFixed(0)} ms`);

      await eventually(async () => expect((await runsOf(id))[0]).toMatchObject({ state: "Ended", endReason: "not-wanted" }));
      await eventually(async () => expect((await system.management.queue("unacked.work.default")).total).toBe(0));
      const statuses = () => told.events.filter((one) => one.event === "observer").map((one) => one.data.status);
      await eventually(() => expect(statuses()).toContain(status));
      expect(new Set(statuses())).toEqual(new Set([status]));
      const errors = await system.call<{ items: ErrorEntry[] }>("GET", "/api/v1/errors");
      expect(errors.body.items.map((one) => one.reason)).toEqual(status === "Failed" ? ["retries-used-up"] : []);
      await system.check();
    },
  );
});

describe("a manager that is killed", () => {
  it.runIf(isTurnOf(0))(
    "after the commit of a create and before its publish leaves a command: its successor sends it",
    async () => {
      await system.startManager();
      await system.startService("service-1");
      await system.managers[0]?.kill("SIGKILL");
      const doomed = await system.startManager({ env: diesAt("publish unacked.start") });
      const id = await createWhileDying();
      expect(await doomed.exited).toEqual(KILLED);
      expect(await system.management.queue("unacked.work.default")).toMatchObject({ total: 0 });
      await system.startManager();
      await system.untilStatus([id], "Processing");
      expect(await system.get(id)).toMatchObject({ revision: 1, epoch: 1 });
      await system.check();
    },
  );

  it.runIf(isTurnOf(1))(
    "after a publish and before its confirm sends it twice: of the two runs one stays, and no message is left",
    async () => {
      await system.startManager();
      await Promise.all([system.startService("service-1"), system.startService("service-2")]);
      await system.managers[0]?.kill("SIGKILL");
      const doomed = await system.startManager({ env: diesAt("confirm unacked.start") });
      const id = await createWhileDying();
      expect(await doomed.exited).toEqual(KILLED);
      // Another reader holds the events back, so that the next manager sends again before it can hear that one runs.
      const reader = supervised(system.env.AMQP_URL as string, {
        build: async (session) => void (await session.consume("unacked.state", { prefetch: 100 }, () => undefined)),
      });
      await reader.connection.up();
      await system.startManager({ untilReady: false });
      await eventually(() => expect(new Set(system.acts().map((act) => act.runId)).size).toBe(2));
      await reader.connection.close();
      const toldMs = performance.now();
      await eventually(() => expect(new Set(lately().map((act) => act.runId)).size).toBe(1));
      console.log(
        `a start published twice: one run ${(performance.now() - toldMs).toFixed(0)} ms after the manager could hear of it`,
      );
      await eventually(async () =>
        expect((await runsOf(id)).map((run) => [run.state, run.endReason]).toSorted()).toEqual([
          ["Current", null],
          ["Ended", "duplicate"],
        ]),
      );
      // Two run until the manager's answer, which here comes as late as the test likes.
      await system.check({ maxOverlapMs: Number.POSITIVE_INFINITY });
    },
  );

  it.runIf(isTurnOf(2))(
    "after the commit of a batch of events and before its ack reads it again, and nothing changes by that",
    async () => {
      const first = await system.startManager();
      await system.startService("service-1");
      const survivor = await system.startService("service-2", { workers: 20 });
      const before = await system.createMany("observer", 10);
      const moved = before.filter((one) => one.service?.name === "service-1").map((one) => one.id);
      expect(moved.length).toBeGreaterThan(0);
      const known = await system.listServices();
      await first.kill("SIGKILL");

      // The inventory that is read again is older than the runs that come behind it: applied twice, it would end them.
      // It is not the first in the queue, which is a batch of its own.
      for (const [i, name] of ["service-1", "service-2"].entries()) {
        await ask(known.find((one) => one.name === name) as ServiceView);
        await eventually(async () => expect((await system.management.queue("unacked.state")).ready).toBeGreaterThan(i));
      }
      await system.service("service-1").kill("SIGKILL");
      await eventually(() => expect(system.actingByPid().get(survivor.pid)?.size).toBe(10));
      await eventually(() => untilTold(survivor));

      const doomed = await system.startManager({ untilReady: false, env: diesAt("ack unacked.events", 1) });
      expect(await doomed.exited).toEqual(KILLED);
      expect((await system.management.queue("unacked.state")).total).toBeGreaterThan(0);

      await system.startManager(); // ready: it has read the state queue empty
      const after = await system.observers(before.map((one) => one.id));
      expect(after.map((one) => [one.status, one.service?.name, one.epoch])).toEqual(
        before.map((one) => ["Processing", "service-2", moved.includes(one.id) ? 2 : 1]),
      );
      await system.check();
    },
  );

  /** Creates on a manager that dies of it: without an answer it may have been accepted, and can be repeated. */
  async function createWhileDying(): Promise<string> {
    const id = randomUUID();
    await system.create("observer", {}, { id }).catch(() => undefined);
    return id;
  }

  const ask = ({ id }: ServiceView) =>
    system.management.publish({
      exchange: "unacked.service",
      routingKey: `${id}.1`,
      body: JSON.stringify({ kind: "ReportInventory" }),
    });

  const lately = () => {
    const sinceNs = process.hrtime.bigint() - 200_000_000n;
    return system.acts().filter((act) => act.monotonicNs > sinceNs);
  };

  /** All that the service had to say is with the broker. */
  async function untilTold(service: { waitForEvent(event: string): Promise<Record<string, unknown>> }): Promise<void> {
    const { url } = await service.waitForEvent("listening");
    const { eventsWaiting } = (await (await fetch(`${String(url)}/readyz`)).json()) as { eventsWaiting: number };
    expect(eventsWaiting).toBe(0);
  }
});
