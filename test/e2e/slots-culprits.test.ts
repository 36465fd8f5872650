import type { ObserverView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { slotsOf } from "../support/processes/process-tree.ts";
import { shortOrFull } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const INNOCENT = shortOrFull(40, 195);
const GUILTY = shortOrFull(12, 100);
const MAX_SLOTS = 8;
const TWICE = { maxAttempts: 2, delaysMs: [100], resetAfterMs: 600_000 };
const FOR_EVER = { maxAttempts: "unlimited", delaysMs: [500], resetAfterMs: 600_000 };

describe("many culprits", { timeout: 480_000 }, () => {
  let system: System;
  let innocents: string[];

  beforeAll(async () => {
    system = await freshSystem({
      env: {
        SLOTS: "2",
        MAX_SLOTS: String(MAX_SLOTS),
        STUCK_MS: "1000",
        STOP_TIMEOUT_MS: "2000",
        SLOT_NODE_OPTIONS: "--max-old-space-size=192",
      },
    });
    await system.startManager();
    await system.startService("a", { workers: 400, env: { OBSERVERS_DIR: "test/fixtures/poison" } });
    innocents = await system.createCrowd("innocent", INNOCENT, { everyMs: 100 });
  }, 240_000);
  afterAll(() => system?.close());

  const poison = async (name: string, how: string, retry: object): Promise<string> => {
    const { status, body } = await system.call<ObserverView>("POST", "/api/v1/observers", {
      name,
      type: "poison",
      params: { how },
      retry,
    });
    expect(status, JSON.stringify(body)).toBe(201);
    return body.id;
  };
  const untilInnocentsAct = () =>
    eventually(
      () => {
        const acting = system.actingByPid().get(system.service("a").pid);
        expect(innocents.filter((id) => acting?.has(id) !== true)).toEqual([]);
      },
      { timeoutMs: 20_000 },
    );
  const restartsOfInnocents = () => new Set(system.acts().map(({ runId }) => runId)).size - INNOCENT;

  it.runIf(isTurnOf(0))(
    `of five kinds among ${INNOCENT + 5} observers are found, each of them and nobody else`,
    async () => {
      await untilInnocentsAct();
      const beganMs = performance.now();
      const kinds = ["busy-loop", "exec-sync", "segv-from-outside", "heap", "rejection"];
      const ids = await Promise.all(kinds.map((how) => poison(`culprit-${how}`, how, TWICE)));
      await system.untilStatus(ids, "Failed", 180_000);
      const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
      await untilInnocentsAct();
      console.log(
        `five culprits among ${INNOCENT} innocents found after ${seconds} s; innocents began again ${restartsOfInnocents()} times`,
      );
      for (const { attempts, lastError } of await system.observers(innocents))
        expect({ attempts, lastError }).toEqual({ attempts: 1, lastError: null });
    },
  );

  it.runIf(isTurnOf(2))(
    `${GUILTY} at once: there are never more than ${MAX_SLOTS} slots, the rest waits and says why, the innocent go on`,
    async () => {
      await untilInnocentsAct();
      const before = restartsOfInnocents();
      const { pid } = system.service("a");
      const ids = await Promise.all(
        Array.from({ length: GUILTY }, (_, i) => poison(`guilty-${i}`, "segv-from-outside", FOR_EVER)),
      );
      let most = 0;
      await eventually(
        async () => {
          most = Math.max(most, slotsOf(pid).length);
          const waiting = (await system.observers(ids)).filter(
            ({ status, lastError }) => status === "Retrying" && lastError?.name === "NoSlotError",
          );
          expect(waiting.length).toBeGreaterThan(0);
          expect(waiting[0]?.lastError?.message).toContain(`there may be ${MAX_SLOTS} (MAX_SLOTS)`);
        },
        { timeoutMs: 120_000, what: "one that waits for a slot" },
      );
      await untilInnocentsAct();
      most = Math.max(most, slotsOf(pid).length);
      expect(most).toBeLessThanOrEqual(MAX_SLOTS);
      for (const id of ids) expect((await system.call("DELETE", `/api/v1/observers/${id}`)).status).toBe(202);
      await system.untilStatus(ids, "Deleted", 30_000);
      await untilInnocentsAct();
      await system.check();
      console.log(
        `${GUILTY} guilty at once: ${most} slots at most; innocents began again ${restartsOfInnocents() - before} times`,
      );
      expect(system.service("a").lines.filter((line) => line.includes("lease-lost"))).toEqual([]);
    },
  );
});
