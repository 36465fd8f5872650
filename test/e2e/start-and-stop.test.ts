import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { freshSystem, type System } from "../support/system/system.ts";

describe("twenty observers on two services of ten workers", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
    await Promise.all([system.startService("service-1"), system.startService("service-2")]);
  });
  afterAll(() => system.close());

  it("run ten on each, their messages unacked, Processing in the books with their service", async () => {
    const observers = await system.createMany("observer", 20);
    for (const [name, service] of system.services) {
      const here = observers.filter((one) => one.service?.name === name).map((one) => one.id);
      expect(here).toHaveLength(10);
      await eventually(() => expect(system.actingByPid().get(service.pid)).toEqual(new Set(here)));
    }
    expect(new Set(observers.map((one) => one.currentRunId)).size).toBe(20);
    await eventually(async () => {
      expect(await system.management.queue("unacked.work.default")).toMatchObject({ unacked: 20, ready: 0 });
    });
    await system.check();
  });

  it("are counted for Prometheus", async () => {
    const { text: scrape } = await callHttp(`${system.url}/metrics`, "GET");
    expect(scrape).toContain('unacked_observers{type="stamp",status="Processing"} 20');
    expect(scrape).toContain('unacked_workers_free{pool="default"} 0');
    expect(scrape).toContain('unacked_warnings{code="no-free-worker"} 1');
  });

  it("leave no worker for the twenty-first: 503, or it waits when it says so", async () => {
    const refused = await system.create("one-too-many");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect(refused.body.code).toBe("no-free-worker");

    const queued = await system.create("patient", {}, { whenFull: "queue" });
    expect(queued.status).toBe(201);
    await eventually(async () => expect((await system.management.queue("unacked.work.default")).ready).toBe(1));
    expect((await system.get("patient")).status).toBe("Created");
    await system.remove("observer-0");
    await system.untilStatus([queued.body.id], "Processing");
    await system.check();
  });

  it("stop by name and by id, and the name is free again", async () => {
    const byId = await system.get("observer-1");
    await system.remove(byId.id);
    await system.remove("observer-2");
    const again = await system.create("observer-2");
    expect(again.status).toBe(201);
    expect(again.body.id).not.toBe((await system.get(byId.id)).id);
    await system.untilStatus([again.body.id], "Processing");
    const stops = system.acts().filter((act) => act.observerId === byId.id && act.kind === "stop");
    expect(stops).toMatchObject([{ reason: "stopped" }]);
    await system.check();
  });
});
