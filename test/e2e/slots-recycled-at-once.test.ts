import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gapsMs } from "../support/acts/gaps.ts";
import { longestOverlapMs } from "../support/acts/invariants.ts";
import { eventually } from "../support/eventually.ts";
import { slotsOf } from "../support/processes/process-tree.ts";
import { FULL, shortOrFull } from "../support/runs/counts.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { giveOrder } from "../support/system/fenced-pair.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const SLOTS = shortOrFull(8, 40);
const PER_SLOT = 3;

describe.skipIf(!FULL)(`${SLOTS} slots that grow over their limit at once`, { timeout: 600_000 }, () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem({
      heartbeatS: 10,
      env: { SLOTS: String(SLOTS), MAX_SLOTS: String(SLOTS + 20), SLOT_MEMORY_MB: "120" },
    });
    await system.startManager();
    await system.startService("a", { workers: 1_000, env: { OBSERVERS_DIR: "test/fixtures/poison" }, untilKnown: false });
    await eventually(async () => expect((await system.listServices()).map(({ name }) => name)).toEqual(["a"]), {
      timeoutMs: 120_000,
    });
  }, 240_000);
  afterAll(() => system?.close());

  it("are emptied a few at a time, nobody runs twice, and all run again", async () => {
    const { pid, lines } = system.service("a");
    const orders = temporaryFolder("orders");
    const ids = await system.createCrowd("many", PER_SLOT * SLOTS, { everyMs: 200 });
    const growers = Array.from({ length: 2 * SLOTS }, (_, i) => ({
      name: `grower-${i}`,
      type: "poison",
      params: { how: "nothing", afterMs: 0, orders },
    }));
    await system.call("POST", "/api/v1/observers/batch", { observers: growers });
    await system.untilStatus(["grower-0"], "Processing");
    const before = slotsOf(pid);
    for (const slot of before) giveOrder(orders, slot, "grow-once");
    const told = (event: string) => lines.filter((line) => line.includes(`"event":"${event}"`)).length;
    await eventually(() => expect(told("slot-recycled")).toBeGreaterThan(0.9 * SLOTS), { timeoutMs: 200_000 });
    await eventually(
      () => {
        const acting = system.actingByPid(600).get(pid);
        expect(ids.filter((id) => acting?.has(id) !== true)).toEqual([]);
      },
      { timeoutMs: 60_000 },
    );
    const gaps = [...gapsMs(system.acts()).values()].flat().toSorted((a, b) => a - b);
    const at = (part: number) => Math.round(gaps[Math.floor(gaps.length * part)] ?? 0);
    console.log(
      `${SLOTS} slots over their limit at once: ${told("slot-recycled")} recycled, ${gaps.length} observers begun again, without a run p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (acts are 200 ms apart)`,
    );
    expect(longestOverlapMs(system.acts())).toBe(0);
    expect(told("lease-lost")).toBe(0);
    expect(slotsOf(pid).length).toBeLessThanOrEqual(SLOTS + 20);
  });
});
