import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { longestOverlapMs } from "../support/acts/invariants.ts";
import { readStamps, type Stamp } from "../support/acts/stamps.ts";
import { eventually } from "../support/eventually.ts";
import { type Bystander, startBystander } from "../support/processes/bystander.ts";
import { isAlive, slotsOf } from "../support/processes/process-tree.ts";
import { shortOrFull } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { giveOrder } from "../support/system/fenced-pair.ts";
import { BUSY_MACHINE_MS, freshSystem, KILLED_KEEPER_OVERLAP_MS, type System } from "../support/system/system.ts";

const OBSERVERS = shortOrFull(300, 600);
/** By the promise, and what a machine that does much else adds without the bystander. */
const MAX_OVERLAP_MS = KILLED_KEEPER_OVERLAP_MS + shortOrFull(BUSY_MACHINE_MS, 0);

describe.runIf(isTurnOf(2))("a service that is killed half way through emptying a slot that took too much memory", () => {
  let system: System;
  let bystander: Bystander;

  beforeAll(async () => {
    system = await freshSystem({ env: { SLOTS: "2", SLOT_MEMORY_MB: "120" } });
    await system.startManager();
    bystander = await startBystander();
  });
  afterAll(async () => {
    await bystander?.end();
    await system?.close();
  });

  it("loses nobody and runs nobody twice: the next one runs them all", async () => {
    const env = { OBSERVERS_DIR: "test/fixtures/poison" };
    const holder = await system.startService("holder", { workers: 2 * OBSERVERS, env });
    const ids = await system.createCrowd("many", OBSERVERS, { everyMs: 200 });
    const orders = temporaryFolder("orders");
    const file = join(orders, "grower.jsonl");
    const grower = { name: "grower", type: "poison", params: { how: "nothing", afterMs: 0, orders, file } };
    expect((await system.call("POST", "/api/v1/observers", grower)).status).toBe(201);
    const growersSlot = await eventually(() => (readStamps(file)[0] as Stamp & { slot: number }).slot);
    const heir = await system.startService("heir", { workers: 2 * OBSERVERS, env });
    const slots = slotsOf(holder.pid);

    giveOrder(orders, growersSlot, "grow-buffers");
    await holder.waitForEvent("slot-recycled", { timeoutMs: 30_000 });
    const moved = () => new Set(system.acts().map(({ runId }) => runId)).size - OBSERVERS;
    await eventually(() => expect(moved()).toBeGreaterThan(0));
    const movedByThen = moved();
    const killedNs = process.hrtime.bigint();
    await holder.kill("SIGKILL");
    await eventually(() => expect(slots.filter(isAlive)).toEqual([]));
    await eventually(() => {
      const acting = system.actingByPid(600).get(heir.pid);
      expect(ids.filter((id) => acting?.has(id) !== true)).toEqual([]);
    });
    const missedMs = bystander.missedMs(killedNs, process.hrtime.bigint());
    const overlapMs = longestOverlapMs(system.acts());
    console.log(
      `killed with ${movedByThen} of about ${OBSERVERS / 2} moved: overlap ${overlapMs.toFixed(1)} ms, a bystander missed ${missedMs} ms`,
    );
    // Mostly half way, and all of that slot where this process was held up; what is promised holds all the same.
    expect(movedByThen).toBeLessThan(OBSERVERS);
    expect(overlapMs).toBeLessThanOrEqual(MAX_OVERLAP_MS + missedMs);
  });
});
