import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const QUEUE = "unacked.work.default";
/** Two looks, and what it takes to be in doubt. */
const LOOKS_MS = 12_000;

let system: System;
afterEach(() => system.close());

const queue = () => system.management.queue(QUEUE);

/** The first reads the state queue; REST is spoken to the one that stands by. One observer waits for a service. */
async function twoManagers(params: Record<string, unknown> = {}) {
  const active = await system.startManager();
  await system.startManager();
  const { status, body } = await system.create("once", params, { whenFull: "queue" });
  expect(status, JSON.stringify(body)).toBe(201);
  await eventually(async () => expect((await queue()).ready).toBe(1), { timeoutMs: 20_000 });
  return { active };
}

test.runIf(isTurnOf(2))(
  "An observer that has completed is not sent again by a manager that stands by, while the active one stands still with what it was told of it",
  async () => {
    system = await freshSystem({ heartbeatS: 20 });
    const { active } = await twoManagers({ returnAfterMs: 50 });
    await active.kill("SIGSTOP");
    try {
      const service = await system.startService("service-1", { untilKnown: false });
      await eventually(() => expect(system.acts().some(({ kind }) => kind === "stop")).toBe(true), { timeoutMs: 40_000 });
      await eventually(async () => expect((await queue()).unacked).toBe(0), { timeoutMs: 20_000 });
      await service.kill("SIGTERM");
      await delay(LOOKS_MS);
      expect(await system.get("once")).toMatchObject({ status: "Created", revision: 1 });
    } finally {
      await active.kill("SIGCONT");
    }
    await system.startService("service-2");
    await system.untilStatus(["once"], "Completed", 40_000);
    expect(new Set(system.acts().map(({ runId }) => runId)).size).toBe(1);
  },
);

test.runIf(isTurnOf(0))(
  "An observer that is lost while the active manager stands still is sent again by the one that stands by, once that one reads",
  async () => {
    system = await freshSystem();
    const { active } = await twoManagers();
    await active.kill("SIGSTOP");
    try {
      await system.management.purge(QUEUE);
      const atMs = performance.now();
      await eventually(async () => expect(await system.get("once")).toMatchObject({ status: "Created", revision: 2 }), {
        timeoutMs: 60_000,
      });
      console.info(`sent again ${Math.round(performance.now() - atMs)} ms after it was lost`);
    } finally {
      await active.kill("SIGCONT");
    }
  },
);
