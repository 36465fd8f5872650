import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gapsMs, median } from "../support/acts/gaps.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const OBSERVERS = 30;
/** Of each service: with all of them up, ten more than there are observers. */
const WORKERS = 10;

describe("a rolling restart of three services with thirty observers and ten spare workers", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
    await Promise.all([1, 2, 3].map((i) => system.startService(`service-${i}`, { workers: WORKERS })));
  });
  afterEach(() => system.close());

  it.runIf(isTurnOf(0))(
    "as a StatefulSet does it, each replaced after it has gone: none lost, none doubled",
    async () => {
      await system.startService("service-4", { workers: WORKERS });
      await rollThrough(async (name) => {
        expect(await system.service(name).kill("SIGTERM")).toEqual({ code: 0, signal: null });
        await system.startService(name, { workers: WORKERS });
      });
    },
    240_000,
  );

  it.runIf(isTurnOf(1))(
    "as a Deployment does it, each replaced before it goes: none lost, none doubled",
    async () => {
      await rollThrough(async (name) => {
        const old = system.service(name);
        await system.startService(`${name}-new`, { workers: WORKERS });
        expect(await old.kill("SIGTERM")).toEqual({ code: 0, signal: null });
      });
    },
    240_000,
  );

  async function rollThrough(replace: (name: string) => Promise<void>): Promise<void> {
    const before = await system.createMany("observer", OBSERVERS);
    const ids = before.map((one) => one.id);
    for (const name of ["service-1", "service-2", "service-3"]) {
      await replace(name);
      await system.untilStatus(ids, "Processing");
    }
    await system.check({ maxOverlapMs: 0 });
    expect(new Set(system.acts().map((act) => act.observerId))).toEqual(new Set(ids));
    reportGaps(ids);
  }

  function reportGaps(ids: string[]): void {
    const gaps = gapsMs(system.acts());
    const all = ids.flatMap((id) => gaps.get(id) ?? []);
    const longest = ids.map((id) => Math.max(0, ...(gaps.get(id) ?? [])));
    console.log(
      `rolling restart: ${all.length} moves of ${OBSERVERS} observers; gap of each move: median ${median(all).toFixed(0)} ms, ` +
        `max ${Math.max(...all).toFixed(0)} ms; longest gap of each observer, sorted: ${longest
          .toSorted((a, b) => a - b)
          .map((ms) => ms.toFixed(0))
          .join(" ")} ms`,
    );
    expect(all.length).toBeGreaterThan(0);
    expect(Math.min(...all), "an overlap would be a gap below zero").toBeGreaterThan(0);
    // A handler's stop, an event's confirm, a delivery: tens of milliseconds, were this machine ours alone.
    expect(Math.max(...all)).toBeLessThan(20_000);
  }
});
