import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnBroker, systemOnOwnBroker } from "../support/broker/own-broker.ts";
import { memoryAlarm } from "../support/broker/rabbitmqctl.ts";
import type { TcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import type { ServiceOptions, System } from "../support/system/system.ts";

let system: System;
let own: OwnBroker;
beforeAll(async () => {
  own = await systemOnOwnBroker();
  system = own.system;
  await system.startManager();
});
afterAll(() => own.close());

/** Each test has a pool of its own, with a service on a wire of its own. */
async function serviceOnWire(pool: string, { env = {}, ...options }: ServiceOptions = {}) {
  const wire = await system.wire();
  const service = await system.startService(pool, { wire, ...options, env: { POOL: pool, ...env } });
  return { wire, service };
}

const idsOf = (observers: ObserverView[]) => observers.map((one) => one.id);

describe("a stale ack (fault 3)", () => {
  /**
   * While an alarm blocks what a service tells, its messages are redelivered: its old ends are confirmed when their tags belong to
   * others. (Otherwise it takes nothing before it could tell of its new connection, and so of those ends.)
   */
  async function endsWhileBlocked(pool: string, params: object, beforeAlarm: (one: ObserverView) => Promise<void>) {
    const { wire, service } = await serviceOnWire(pool);
    const endFile = join(temporaryFolder("end"), "end");
    const neighbours = await system.createMany(`${pool}-neighbour`, 3, {}, { pool });
    const until = Object.fromEntries(Object.keys(params).map((name) => [name, endFile]));
    const [one] = (await system.createMany(`${pool}-ends`, 1, until, { pool })) as [ObserverView];
    const more = await system.createMany(`${pool}-more`, 3, {}, { pool });
    await beforeAlarm(one);
    await memoryAlarm(own.dir, true);
    const { url } = await service.waitForEvent("listening");
    await eventually(async () =>
      expect(await (await fetch(`${String(url)}/readyz`)).json()).toMatchObject({ publisher: { blocked: true } }),
    );
    writeFileSync(endFile, "");
    const stopped = () => system.acts().some((act) => act.runId === one.currentRunId && act.kind === "stop");
    await eventually(() => expect(stopped()).toBe(true), { what: "the end of its handler" });
    await eventually(async () => expect((await system.management.queue(`unacked.work.${pool}`)).unacked).toBe(7));
    wire.only(`${pool} consumes`).reset();
    await eventually(() => expect(runsAgain(service, [...neighbours, ...more])).toBe(true), { what: "the second runs" });
    await memoryAlarm(own.dir, false);
    return { one, others: [...neighbours, ...more] };
  }

  const runsAgain = (service: RunningProcess, observers: ObserverView[]) => {
    const acting = system.actingByPid().get(service.pid) ?? new Set();
    const old = new Set(observers.map((one) => one.currentRunId as string));
    const fresh = new Set(
      system
        .acts()
        .filter((act) => !old.has(act.runId))
        .map((act) => act.observerId),
    );
    return observers.every((one) => acting.has(one.id) && fresh.has(one.id));
  };

  it.runIf(isTurnOf(0))("of an observer that completed while its connection was down acks no other's message", async () => {
    const pool = "stale-completed";
    const { one, others } = await endsWhileBlocked(pool, { returnWhenFile: "" }, async () => undefined);
    await system.untilStatus([one.id], "Completed");
    await system.untilStatus(idsOf(others), "Processing");
    await system.check({ pool });
    system.reportOverlap("completed while down", others);
  });

  it.runIf(isTurnOf(1))(
    "of an observer that was stopped while its connection was down acks no other's message",
    async () => {
      const pool = "stale-stopped";
      const { one, others } = await endsWhileBlocked(pool, { stopWhenFile: "" }, async ({ id }) => {
        expect((await system.call("DELETE", `/api/v1/observers/${id}`)).status).toBe(202);
        await eventually(async () => expect((await system.get(id)).status).toBe("OnDeleting"));
      });
      await system.untilStatus([one.id], "Deleted");
      await system.untilStatus(idsOf(others), "Processing");
      await system.check({ pool });
      system.reportOverlap("stopped while down", others);
    },
  );
});

describe("a wire that is cut and healed, with a single service that gets its own messages again (fault 4)", () => {
  async function cutAndHeal(wire: TcpProxy, service: RunningProcess) {
    await wire.refuse();
    wire.reset();
    await service.waitForLine((line) => line.includes('"connect-failed"') || line.includes("handlers-outlive-lease"));
    await wire.heal();
  }

  it("each observer runs again, and never two runs of one at a time", async () => {
    const pool = "cut";
    const { wire, service } = await serviceOnWire(pool);
    const before = await system.createMany(pool, 10, {}, { pool });
    await cutAndHeal(wire, service);
    await untilSecondRun(before);
    expect(service.exit()).toBeNull();
    await system.check({ pool, maxOverlapMs: 0 });
    system.reportOverlap("cut and healed", before);
  });

  it.runIf(isTurnOf(0))(
    "a handler that takes 2 s to stop, within the 0.4 heartbeats of 6 s: the new run waits for the old one",
    async () => {
      const pool = "cut-slow";
      const { wire, service } = await serviceOnWire(pool, { env: { HEARTBEAT_S: "6" } });
      const before = await system.createMany(pool, 5, { stopDelayMs: 2_000 }, { pool });
      await cutAndHeal(wire, service);
      await untilSecondRun(before);
      expect(service.exit()).toBeNull();
      await system.check({ pool, maxOverlapMs: 0 });
      system.reportOverlap("cut and healed, handlers of 2 s, heartbeat 6 s", before);
    },
  );

  it.runIf(isTurnOf(1))(
    "a handler that takes 2 s to stop, over the 0.4 heartbeats of 4 s: its slot ends, and another one runs all",
    async () => {
      const pool = "cut-slow-slot";
      const { wire, service } = await serviceOnWire(pool);
      const before = await system.createMany(pool, 5, { stopDelayMs: 2_000 }, { pool });
      await cutAndHeal(wire, service);
      await untilSecondRun(before);
      expect(service.lines.some((line) => line.includes("slot-gone"))).toBe(true);
      expect(service.exit()).toBeNull();
      await system.check({ pool, maxOverlapMs: 0 });
      system.reportOverlap("cut and healed, handlers of 2 s, heartbeat 4 s", before);
    },
  );

  it.runIf(isTurnOf(2))("the same without slots: its process ends, and the next one runs all", async () => {
    const pool = "cut-too-slow";
    const { wire, service } = await serviceOnWire(pool, { env: { SLOTS: "0" } });
    const before = await system.createMany(pool, 5, { stopDelayMs: 2_000 }, { pool });
    await cutAndHeal(wire, service);
    expect(await service.exited).toEqual({ code: 1, signal: null });
    expect(service.lines.some((line) => line.includes("handlers-outlive-lease"))).toBe(true);
    // As Kubernetes would.
    await system.startService(pool, { wire, env: { POOL: pool } });
    await untilSecondRun(before);
    await system.check({ pool, maxOverlapMs: 0 });
    system.reportOverlap("cut and healed, handlers of 2 s, heartbeat 4 s, without slots", before);
  });

  async function untilSecondRun(before: ObserverView[]) {
    await eventually(
      async () => {
        const after = await system.observers(idsOf(before));
        expect(after.map((one) => [one.status, one.epoch])).toEqual(before.map(() => ["Processing", 2]));
      },
      { timeoutMs: 20_000, what: "all Processing in their second run" },
    );
  }
});
