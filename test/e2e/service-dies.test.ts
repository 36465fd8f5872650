import type { RunView, ServiceView } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startBystander } from "../support/processes/bystander.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** docs/guarantees.md */
const GONE_WITHIN_MS = 10_000;
/** As it is unless set. */
const STOP_TIMEOUT_MS = 25_000;

describe("when a service goes", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("service-1");
  });
  afterEach(() => system.close());

  it("by kill -9, its ten observers run on the other, each exactly once, and the books say so within ten seconds", async () => {
    const observers = await system.createMany("observer", 10);
    const ids = observers.map((one) => one.id);
    const other = await system.startService("service-2");
    const bystander = await startBystander();
    await system.service("service-1").kill("SIGKILL");
    const killedNs = process.hrtime.bigint();

    await eventually(() => expect(system.actingByPid().get(other.pid)).toEqual(new Set(ids)));
    const firstActs = new Map<string, bigint>();
    for (const act of system.acts())
      if (act.pid === other.pid && !firstActs.has(act.observerId)) firstActs.set(act.observerId, act.monotonicNs);
    const backMs = [...firstActs.values()].map((ns) => Number(ns - killedNs) / 1e6);
    console.log(
      `kill -9 to running elsewhere: first ${Math.min(...backMs).toFixed(0)} ms, all ${Math.max(...backMs).toFixed(0)} ms`,
    );

    await eventually(async () => {
      const after = await system.observers(ids);
      expect(after.map((one) => [one.status, one.service?.name, one.epoch])).toEqual(
        ids.map(() => ["Processing", "service-2", 2]),
      );
      const services = await system.listServices("?all=true");
      expect(services.find((one) => one.name === "service-1")).toMatchObject({ state: "Gone", running: 0 });
      expect((await system.listServices()).map((one: ServiceView) => one.name)).toEqual(["service-2"]);
    });
    const goneNs = process.hrtime.bigint();
    const [goneMs, missedMs] = [Number(goneNs - killedNs) / 1e6, bystander.missedMs(killedNs, goneNs)];
    await bystander.end();
    console.log(`kill -9 to Gone: ${goneMs.toFixed(0)} ms; a bystander missed ${missedMs} ms`);
    expect(goneMs).toBeLessThan(GONE_WITHIN_MS + missedMs);
    const runs = await system.call<{ items: RunView[] }>("GET", `/api/v1/observers/${ids[0]}/runs`);
    expect(runs.body.items).toMatchObject([
      { state: "Current", service: { name: "service-2" }, epoch: 2 },
      { state: "Ended", service: { name: "service-1" }, epoch: 1, endReason: "service-gone" },
    ]);
    await system.check();
  });

  it.runIf(isTurnOf(2))(
    "by SIGTERM, its observers stop first and then run elsewhere; it exits 0 within the deadline",
    async () => {
      const observers = await system.createMany("observer", 10, { stopDelayMs: 100 });
      await system.startService("service-2");
      const bystander = await startBystander();
      const startedNs = process.hrtime.bigint();
      expect(await system.service("service-1").kill("SIGTERM")).toEqual({ code: 0, signal: null });
      const endedNs = process.hrtime.bigint();
      const [tookMs, missedMs] = [Number(endedNs - startedNs) / 1e6, bystander.missedMs(startedNs, endedNs)];
      await bystander.end();
      console.log(`SIGTERM to its end: ${tookMs.toFixed(0)} ms; a bystander missed ${missedMs} ms`);
      expect(tookMs).toBeLessThan(STOP_TIMEOUT_MS + missedMs);
      await eventually(async () => {
        const after = await system.observers(observers.map((one) => one.id));
        expect(after.map((one) => [one.status, one.service?.name])).toEqual(
          observers.map(() => ["Processing", "service-2"]),
        );
      });
      await eventually(async () =>
        expect((await system.listServices("?all=true")).find((one) => one.name === "service-1")).toMatchObject({
          state: "Stopped",
        }),
      );
      await system.check({ maxOverlapMs: 0 });
    },
  );

  it.runIf(isTurnOf(0))(
    "with nobody to take over, its observers wait as Redistributing and run on its successor",
    async () => {
      const observers = await system.createMany("observer", 10);
      const ids = observers.map((one) => one.id);
      await system.service("service-1").kill("SIGKILL");
      await system.untilStatus(ids, "Redistributing", 15_000);
      await system.startService("service-1");
      await system.untilStatus(ids, "Processing");
      await system.check();
    },
  );

  it.runIf(isTurnOf(1))("an observer can be stopped while it is redistributed: it never runs again", async () => {
    const [observer] = await system.createMany("observer", 1);
    const { id } = observer as { id: string };
    await system.service("service-1").kill("SIGKILL");
    await system.untilStatus([id], "Redistributing", 15_000);
    expect((await system.call("DELETE", `/api/v1/observers/${id}`)).status).toBe(202);
    system.isOver(id);
    expect((await system.get(id)).status).toBe("OnDeleting");
    await system.startService("service-2");
    await system.untilStatus([id], "Deleted");
    await eventually(async () => expect((await system.management.queue("unacked.work.default")).total).toBe(0));
  });
});
