import type { BalanceView } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { gapsMs } from "../support/acts/gaps.ts";
import { eventually } from "../support/eventually.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const FULL = proves("balance");
const OBSERVERS = FULL ? 3_000 : 120;
/** Of services, as they are in the hardware of people: two are twice as large. */
const WORKERS = (FULL ? [2, 2, 1, 1, 1, 1] : [2, 1, 1]).map((size) => size * (FULL ? 500 : 40));
const ACT_EVERY_MS = FULL ? 1_000 : 200;

const name = (i: number): string => `service-${i + 1}`;
const quantile = (sorted: number[], q: number): string => `${Math.round(sorted[Math.floor(sorted.length * q)] ?? 0)} ms`;

describe(`${OBSERVERS} observers on ${WORKERS.length} services, with REBALANCE=auto`, {
  timeout: FULL ? 1_800_000 : 480_000,
}, () => {
  let system: System;
  let balance: () => Promise<BalanceView>;

  beforeEach(async () => {
    system = await freshSystem({ env: { REBALANCE: "auto" } });
    balance = async () => (await system.call<BalanceView>("GET", "/api/v1/pools/default/balance")).body;
    await system.startManager();
    for (const [i, workers] of WORKERS.entries()) await system.startService(name(i), { workers });
  });
  afterEach(() => system.close());

  /** How far each is from its share, of that share. */
  const offBy = ({ services }: BalanceView): number[] =>
    services.map(({ running, share }) => Math.abs(running - (share ?? 0)) / Math.max(1, share ?? 1));

  test.runIf(isTurnOf(1))(
    "a rolling restart leaves them uneven; three minutes after calm they are even, none lost, none doubled",
    async () => {
      const ids = await system.createCrowd("observer", OBSERVERS, { everyMs: ACT_EVERY_MS });
      for (const [i, workers] of WORKERS.entries()) {
        await system.service(name(i)).kill("SIGTERM");
        await system.startService(name(i), { workers });
      }
      await system.untilStatus(ids, "Processing", 120_000);
      const calmMs = performance.now();
      const uneven = await balance();
      console.log(`after the rolling restart: ${uneven.services.map((one) => `${one.running}/${one.share}`).join(" ")}`);
      expect(uneven.moves).toBeGreaterThan(OBSERVERS / 20);
      const actsBefore = system.acts().length;

      const even = await eventually(
        async () => {
          const now = await balance();
          expect(Math.max(...offBy(now)), JSON.stringify(now.services.map((one) => one.running))).toBeLessThanOrEqual(0.1);
          expect(now.rebalance?.outcome).toBe("even");
          return now;
        },
        { timeoutMs: 240_000, what: "that all are within 10 % of their share" },
      );
      const tookS = (performance.now() - calmMs) / 1_000;
      await system.check({ maxOverlapMs: 0 });
      const gaps = [...gapsMs(system.acts().slice(actsBefore)).values()].flat().toSorted((a, b) => a - b);
      console.log(
        `even ${tookS.toFixed(0)} s after calm (60 s of them waited for): ${even.services.map((one) => `${one.running}/${one.share}`).join(" ")}; ` +
          `${even.rebalance?.moved} moves where ${uneven.moves} were needed; an observer that moves does not act for p50 ${quantile(gaps, 0.5)}, p99 ${quantile(gaps, 0.99)} (it acts each ${ACT_EVERY_MS} ms)`,
      );
      expect(even.rebalance?.by).toBe("auto");
      // The broker gives out in turn, and not always quite evenly.
      expect(gaps.length).toBeGreaterThanOrEqual(uneven.moves);
      if (!FULL) return; // a machine that stands still for a moment moves some by itself
      expect(gaps).toHaveLength(even.rebalance?.moved ?? -1);
      expect(gaps.length).toBeLessThanOrEqual(1.1 * uneven.moves + 3);
    },
  );

  test.runIf(FULL)("a service that flaps each 30 s causes no storm: nobody moves but what it ran itself", async () => {
    const ids = await system.createCrowd("observer", OBSERVERS, { everyMs: ACT_EVERY_MS });
    const flaps = 8;
    for (let i = 0; i < flaps; i += 1) {
      const last = performance.now();
      await system.service(name(5)).kill("SIGKILL");
      await system.startService(name(5), { workers: WORKERS[5] as number });
      await system.untilStatus(ids, "Processing", 60_000);
      await eventually(() => performance.now() - last > 30_000, { timeoutMs: 31_000 });
      expect((await balance()).rebalance).toBeNull();
    }
    const runs = (await system.observers(ids)).reduce((sum, { runNumber }) => sum + runNumber - 1, 0);
    console.log(`${flaps} flaps: no rebalance began, ${runs} failovers of ${OBSERVERS} observers`);
    await system.check();
  });
});
