import type { RunList } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gapsMs } from "../support/acts/gaps.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { isAlive, slotsOf } from "../support/processes/process-tree.ts";
import { inTurn } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const TWICE = { maxAttempts: 2, delaysMs: [100], resetAfterMs: 600_000 };

describe("slots with little memory", () => {
  let system: System;
  let neighbours: string[];

  beforeAll(async () => {
    system = await freshSystem({
      heartbeatS: 20, // no lease is to be lost only because the machine stood still
      env: { SLOTS: "2", STUCK_MS: "1000", STOP_TIMEOUT_MS: "2000", SLOT_MEMORY_MB: "80", LOG_LEVEL: "debug" },
    });
    await system.startManager();
    await system.startService("a", { workers: 30, env: { OBSERVERS_DIR: "test/fixtures/poison" } });
    neighbours = (await system.createMany("neighbour", 10)).map(({ id }) => id);
  }, 240_000);
  afterAll(() => system.close());

  const told = (event: string) =>
    system
      .service("a")
      .lines.filter((line) => line.includes(`"event":"${event}"`))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const untilAllAct = () =>
    eventually(() => expect(system.actingByPid().get(system.service("a").pid)).toEqual(new Set(neighbours)), {
      timeoutMs: 10_000,
    });

  it.each(inTurn(["grow-heap", "grow-buffers"]))(
    "%s: who makes a slot grow is found, and fails its attempts; others only move",
    async (how) => {
      const { body } = await system.call<{ id: string }>("POST", "/api/v1/observers", {
        name: how,
        type: "poison",
        params: { how },
        retry: TWICE,
      });
      await system.untilStatus([body.id], "Failed", 40_000);
      const { lastError } = await system.get(body.id);
      expect(`${lastError?.name}: ${lastError?.message}`).toMatch(
        /^MemoryLimitError: the handler is alone in its slot: .* of 80/,
      );
      await untilAllAct();
      console.log(`${how}: ${told("slot-recycled").length} slots recycled so far`);
    },
  );

  it("tells which types ran in a slot that grew", () => {
    expect(told("slot-recycled").length).toBeGreaterThan(0);
    for (const { types } of told("slot-recycled")) expect(types).toMatchObject({ poison: 1 });
  });

  it("is seen by operators: slots that ended for it, which types grew, and who was moved", async () => {
    const recycled = told("slot-recycled").length;
    const grown = await scrape(String((await system.service("a").waitForEvent("listening")).url));
    expect(grown.value("unacked_service_slot_deaths_total", { reason: "recycled" })).toBeGreaterThan(0);
    expect(grown.value("unacked_service_slot_recycled_runs_total", { type: "poison" })).toBe(recycled);
    expect(grown.value("unacked_service_slot_recycled_runs_total", { type: "stamp" })).toBeGreaterThan(0);
    await eventually(async () => {
      const [service] = await system.listServices();
      expect(service?.slotDeaths.map(({ why }) => why).join()).toMatch(/its slot took \d+ MiB, of 80 that it may/);
    });
    const runs = await Promise.all(neighbours.map((id) => system.call<RunList>("GET", `/api/v1/observers/${id}/runs`)));
    const interruptions = runs.flatMap(({ body }) => body.items.flatMap(({ interruption }) => interruption ?? []));
    expect(interruptions.join()).toMatch(/its slot took \d+ MiB, of 80 that it may/);
  });

  it("a slot that is frozen from outside is ended, and nobody is blamed", async () => {
    await untilAllAct();
    const loaded = () => told("slot-loaded").map(({ slot }) => Number(slot));
    // Looked for anew each time: one of what went before may be going still.
    const allLoaded = () => {
      const found = slotsOf(system.service("a").pid);
      expect(loaded()).toEqual(expect.arrayContaining(found));
      return found;
    };
    const slots = await eventually(allLoaded, { what: "that all slots have loaded" });
    for (const pid of slots) process.kill(pid, "SIGSTOP");
    const frozen = () => told("slot-gone").filter(({ why }) => String(why).includes("frozen"));
    await eventually(() => expect(frozen().length).toBeGreaterThanOrEqual(2), { timeoutMs: 15_000 });
    // One that had loaded, but whose watchdog had yet to say a word, is given the 20 s of a slow beginning.
    await eventually(() => expect(slots.filter(isAlive)).toEqual([]), { timeoutMs: 30_000 });
    await untilAllAct();
    for (const id of neighbours) expect((await system.get(id)).lastError).toBeNull();
  });

  it("has cost the service nothing: each neighbour runs once, none was long without", async () => {
    expect(system.service("a").lines.filter((line) => line.includes("lease-lost"))).toEqual([]);
    const gaps = [...gapsMs(system.acts()).values()].flat();
    console.log(`neighbours without a run ${gaps.length} times, longest ${Math.round(Math.max(...gaps))} ms`);
    await system.check();
  });
});
