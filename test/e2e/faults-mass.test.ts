import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const COUNT = 5_000;
const EVERY_MS = 5_000;
/** Of the reported lag of the event loop: half a heartbeat, at which life is to be proven. On an idle machine a tenth of it. */
const MAX_LAG_MS = 10_000;

interface Channel {
  prefetch_count: number;
  messages_unacknowledged: number;
}

describe.runIf(isTurnOf(2))("a service with five thousand observers", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem({ heartbeatS: 20 }); // that a service is killed is noticed by its connection
    await system.startManager();
  });
  afterAll(() => system.close());

  it("killed with -9: they come over two survivors at once, never more than each has workers, and both stay responsive", async () => {
    const first = await system.startService("service-1", { workers: COUNT });
    const ids = await system.createCrowd("observer", COUNT, { everyMs: EVERY_MS });
    const survivors = await Promise.all([2, 3].map((i) => system.startService(`service-${i}`, { workers: COUNT / 2 })));
    await first.kill("SIGKILL");
    const killedMs = performance.now();

    let worstLagMs = 0;
    let mostAtOnce = 0;
    const look = async () => {
      const reports = (await system.listServices()).filter((one) => one.name !== "service-1");
      worstLagMs = Math.max(worstLagMs, ...reports.map((one) => one.eventLoopLagMs));
      const channels = (await system.management.call("GET", "/vhosts/{vhost}/channels")) as Channel[];
      const held = channels.filter((one) => one.prefetch_count === COUNT / 2).map((one) => one.messages_unacknowledged);
      mostAtOnce = Math.max(mostAtOnce, ...held, ...reports.map((one) => one.running));
      return new Map(reports.map((one) => [one.name, one.lastSeenAt]));
    };
    const acting = () => survivors.map(({ pid }) => system.actingByPid(2 * EVERY_MS).get(pid)?.size ?? 0);
    await eventually(() => expect(acting()).toEqual([COUNT / 2, COUNT / 2]), { timeoutMs: 30_000 });
    const actingMs = performance.now() - killedMs;
    await look();
    await system.untilStatus(ids, "Processing", 30_000);
    const inBooksMs = performance.now() - killedMs;
    const seenBefore = await look();
    // Each reports every 5 s the worst lag since its last report: the one after all this has the starts in it.
    await eventually(
      async () => {
        const later = [...(await look())].filter(([name, seenAt]) => seenAt > (seenBefore.get(name) ?? ""));
        expect(later).toHaveLength(2);
      },
      { timeoutMs: 15_000 },
    );
    console.log(
      `${COUNT} redelivered to two services of ${COUNT / 2}: all acted after ${actingMs.toFixed(0)} ms, ` +
        `in the books after ${inBooksMs.toFixed(0)} ms; worst lag reported ${worstLagMs} ms`,
    );
    for (const survivor of survivors) {
      expect(survivor.lines.filter((line) => line.includes('"event":"lease-lost"'))).toEqual([]);
      expect(survivor.exit()).toBeNull();
    }
    expect(worstLagMs).toBeLessThan(MAX_LAG_MS);
    expect(mostAtOnce).toBe(COUNT / 2);
    await system.check({ freshMs: 3 * EVERY_MS, timeoutMs: 60_000 });
  }, 240_000);
});
