import { pathToFileURL } from "node:url";
import type { RunView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const HOUR_MS = 3_600_000;
const PRELOAD = pathToFileURL("test/fixtures/wrong-clock.mjs").href;
const withClock = (offsetMs: number) => ({ NODE_OPTIONS: `--import=${PRELOAD}`, CLOCK_OFFSET_MS: String(offsetMs) });

/** Of all that these observers have been through. No time is after now, no end before its start. */
function expectInOrder(runs: RunView[], nowMs: number): void {
  for (const { startedAt, endedAt } of runs) {
    expect(Date.parse(startedAt)).toBeLessThanOrEqual(nowMs);
    if (endedAt === null) continue;
    expect(Date.parse(endedAt)).toBeLessThanOrEqual(nowMs);
    expect(Date.parse(endedAt)).toBeGreaterThanOrEqual(Date.parse(startedAt));
  }
}

describe.runIf(isTurnOf(2))("services whose wall clocks are wrong by hours", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
  });
  afterAll(() => system.close());

  it("start, retry, take over and stop as others do, and the books know no time that is yet to come", async () => {
    await system.startService("ahead", { env: withClock(5 * HOUR_MS) });
    const observers = await system.createMany("observer", 5);
    const ids = observers.map((one) => one.id);
    await system.startService("behind", { env: withClock(-5 * HOUR_MS) });
    const retry = { maxAttempts: "unlimited", delaysMs: [15_000] };
    for (const name of ["retried-1", "retried-2"]) await system.create(name, { throwAfterMs: 10, throwTimes: 1 }, { retry });
    await system.untilStatus(["retried-1", "retried-2"], "Retrying");
    for (const name of ["retried-1", "retried-2"]) {
      const inMs = Date.parse((await system.get(name)).nextAttemptAt as string) - Date.now();
      expect(inMs).toBeGreaterThan(-600_000);
      expect(inMs).toBeLessThan(600_000);
    }
    await system.untilStatus(["retried-1", "retried-2"], "Processing");

    // The books say that they are Processing until they hear of a death.
    const untilAllOn = (name: string) =>
      eventually(async () => {
        const all = await system.observers(ids);
        expect(all.map((one) => [one.status, one.service?.name])).toEqual(ids.map(() => ["Processing", name]));
      });
    await system.service("ahead").kill("SIGKILL");
    await untilAllOn("behind");
    await system.startService("ahead", { env: withClock(5 * HOUR_MS) });
    await system.service("behind").kill("SIGTERM");
    await untilAllOn("ahead");
    await system.remove("observer-0");
    await system.check({ maxOverlapMs: 0 });

    for (const id of ids) {
      const { body } = await system.call<{ items: RunView[] }>("GET", `/api/v1/observers/${id}/runs`);
      expect(body.items).toHaveLength(3);
      expectInOrder(body.items, Date.now());
    }
  }, 240_000);
});
