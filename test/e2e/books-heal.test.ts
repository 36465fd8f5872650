import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { runStatement } from "../support/servers.ts";
import { freshSystem, type System } from "../support/system.ts";

describe("the books heal", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
  });
  afterEach(() => system.close());

  it("when the work queue is deleted under ten running observers: all run again, each once, with a higher revision", async () => {
    await system.startService("service-1");
    await system.startService("service-2");
    const before = await system.createMany("observer", 10);
    await system.management.deleteQueue("unacked.work.default");
    await eventually(
      async () => {
        const after = await system.observers(before.map((one) => one.id));
        expect(after.map((one) => [one.status, one.revision])).toEqual(before.map(() => ["Processing", 2]));
      },
      { timeoutMs: 30_000 },
    );
    await system.check({ maxOverlapMs: 0 });
  });

  it("when a waiting message is lost: it is sent again; one that is being deleted is Deleted", async () => {
    const service = await system.startService("service-1", { workers: 1 });
    await system.createMany("observer", 1);
    const { body: waiting } = await system.create("waiting", {}, { whenFull: "queue" });
    await eventually(async () => expect((await system.management.queue("unacked.work.default")).ready).toBe(1));
    await system.management.purge("unacked.work.default");
    await eventually(async () => expect(await system.get(waiting.id)).toMatchObject({ status: "Created", revision: 2 }), {
      timeoutMs: 20_000,
    });
    await system.check();
    await system.call("DELETE", `/api/v1/observers/${waiting.id}?force=true`);
    system.mayStartOnceMore(waiting.id);

    await service.kill("SIGKILL");
    await system.untilStatus(["observer-0"], "Redistributing", 15_000);
    expect((await system.call("DELETE", "/api/v1/observers/observer-0")).status).toBe(202);
    await system.management.purge("unacked.work.default");
    await system.untilStatus(["observer-0"], "Deleted", 20_000);
  }, 60_000);
});

describe("books restored from an older backup", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("service-1");
  });
  afterEach(() => system.close());

  it("record again what services run: each observer goes on under its id and name", async () => {
    const before = await system.createMany("observer", 5);
    await runStatement(system.env.DATABASE_URL as string, "TRUNCATE observers, runs, services, commands, errors");
    // The service speaks again within 5 s; its sequence number tells that something was lost.
    await eventually(
      async () => {
        const after = await system.listObservers();
        expect(after.map((one) => [one.id, one.name, one.status]).toSorted()).toEqual(
          before.map((one) => [one.id, one.name, "Processing"]).toSorted(),
        );
      },
      { timeoutMs: 20_000 },
    );
    await system.check({ maxOverlapMs: 0 });
  });
});
