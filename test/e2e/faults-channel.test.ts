import type { ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { passiveDeclare } from "../support/broker/amqp-frames.ts";
import type { TcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** A service opens them in this order on the connection that consumes; 3 is the one on which the work queue is asked for, and is closed. */
const CHANNELS = { requests: 1, control: 2, work: 4 };
const STOP_DELAY_MS = 300;
/** The broker gives the messages of a closed channel away at once: the old handlers stop beside the new ones; a busy machine holds them up. */
const MAX_OVERLAP_MS = 3_000;

describe.runIf(isTurnOf(2))("a channel that goes alone, its connection still standing (fault 2)", () => {
  let system: System;
  let wire: TcpProxy;
  let first: RunningProcess;
  let second: RunningProcess;
  let observers: ObserverView[];

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    wire = await system.wire();
    first = await system.startService("service-1", { wire });
    second = await system.startService("service-2", { workers: 40 });
    observers = await system.createMany("observer", 10);
  });
  afterAll(() => system.close());

  const generationOf = async (service: RunningProcess) =>
    (await system.listServices()).find((one) => one.pid === service.pid)?.generation;

  const allRun = async () => {
    await system.untilStatus(
      observers.map((one) => one.id),
      "Processing",
    );
    expect([first.exit(), second.exit()]).toEqual([null, null]);
    await system.check({ maxOverlapMs: STOP_DELAY_MS + MAX_OVERLAP_MS });
  };

  it("a malformed start among nine good ones ends among the errors: the nine stay, in the runs they are in", async () => {
    const before = await system.observers(observers.map((one) => one.id));
    const deliver = { exchange: "unacked.start", routingKey: "default", properties: { delivery_mode: 2 } };
    await system.management.publish({ ...deliver, body: JSON.stringify({ observerId: before[0]?.id, revision: "first" }) });
    await eventually(async () => {
      const { body } = await system.call<{ items: { reason: string }[] }>("GET", "/api/v1/errors");
      expect(body.items.map((one) => one.reason)).toEqual(["unreadable"]);
    });
    const after = await system.observers(observers.map((one) => one.id));
    expect(after.map((one) => one.currentRunId)).toEqual(before.map((one) => one.currentRunId));
    await allRun();
  });

  it.each([
    // It carries the messages: the broker gives them away as it closes it.
    ["work", STOP_DELAY_MS + MAX_OVERLAP_MS],
    // The messages stay with the channel that still stands until every handler has stopped.
    ["requests", 0],
  ] as const)(
    "closed by the broker with 404, the one for %s: its runs are fenced, the session is rebuilt, handlers of 300 ms overlap for %i ms at most",
    async (channel, maxOverlapMs) => {
      const slow = await system.createMany(channel, 5, { stopDelayMs: STOP_DELAY_MS });
      const before = await generationOf(first);
      wire.only("service-1 consumes").inject(passiveDeclare(CHANNELS[channel], "not-there"));
      await eventually(async () => expect(await generationOf(first)).toBe(Number(before) + 1));
      expect(first.lines.some((line) => line.includes('"channel-closed"') && line.includes("not-there"))).toBe(true);
      await allRun();
      expect(system.reportOverlap(`channel for ${channel} closed alone`, slow)).toBeLessThanOrEqual(maxOverlapMs);
    },
  );

  it("a null delivery, its queue deleted: both services fence and declare it again; what was in it is sent again", async () => {
    const before = await Promise.all([first, second].map(generationOf));
    await system.management.deleteQueue("unacked.work.default");
    await eventually(async () =>
      expect(await Promise.all([first, second].map(generationOf))).toEqual(before.map((one) => Number(one) + 1)),
    );
    // By the cancel; a proof of life that comes upon the very moment finds no queue, and tells it first.
    for (const service of [first, second])
      expect(service.lines.some((line) => /"consumer-cancelled"|"taken-back"/.test(line))).toBe(true);
    await eventually(
      async () => {
        const after = await system.observers(observers.map((one) => one.id));
        expect(after.map((one) => [one.status, one.revision])).toEqual(observers.map(() => ["Processing", 2]));
      },
      { timeoutMs: 25_000 },
    );
    await allRun();
    system.reportOverlap("queue deleted", observers);
  }, 240_000);
});
