import { type AuditPage, type ErrorPage, newObserverId, type ObserverView } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows, runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

describe("the books heal", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
  });
  afterEach(() => system.close());

  it.runIf(isTurnOf(1))(
    "when the work queue is deleted under ten running observers: all run again, each once, with a higher revision",
    async () => {
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
    },
  );

  it.runIf(isTurnOf(2))(
    "when the work queue is deleted under a service that is cordoned, and so consumes nothing: what it ran runs again, too",
    async () => {
      await system.startService("service-1");
      const before = await system.createMany("observer", 5);
      await system.startService("service-2");
      await eventually(async () =>
        expect((await system.call("POST", "/api/v1/services/service-1/cordon")).body).toMatchObject({ cordoned: true }),
      );
      await eventually(async () => expect((await system.management.queue("unacked.work.default")).consumers).toBe(1));
      await system.management.deleteQueue("unacked.work.default");
      await eventually(
        async () => {
          const after = await system.observers(before.map((one) => one.id));
          expect(after.map((one) => [one.status, one.revision, one.service?.name])).toEqual(
            before.map(() => ["Processing", 2, "service-2"]),
          );
        },
        { timeoutMs: 30_000 },
      );
      await system.check({ maxOverlapMs: 0 });
    },
  );

  it.runIf(isTurnOf(0))(
    "when a waiting message is lost: it is sent again; one that is being deleted is Deleted",
    async () => {
      const service = await system.startService("service-1", { workers: 1 });
      await system.createMany("observer", 1);
      const { body: waiting } = await system.create("waiting", {}, { whenFull: "queue" });
      await system.untilQueued(1);
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
    },
    240_000,
  );
});

describe("books restored from an older backup", () => {
  let system: System;

  beforeEach(async () => {
    system = await freshSystem();
    await system.startManager();
    await system.startService("service-1");
  });
  afterEach(() => system.close());

  it.runIf(isTurnOf(2))("record again what services run: each observer goes on under its id and name", async () => {
    const before = await system.createMany("observer", 5);
    await runStatement(system.env.DATABASE_URL as string, "TRUNCATE observers, runs, services, commands, errors CASCADE");
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
    const { body } = await system.call<AuditPage>("GET", "/api/v1/audit?action=observer.take-back");
    expect(body.items.reduce((sum, { count }) => sum + count, 0)).toBe(5);
    for (const { actor } of body.items) expect(actor).toMatchObject({ name: "service-1", authentication: "broker" });
  });

  it("record again what services run of a type that a deploy has brought since the backup", async () => {
    const retry = { maxAttempts: "unlimited", delaysMs: [300], resetAfterMs: 600_000 };
    const before = await system.createMany("feed", 5, { throwAfterMs: 1_000 }, { retry });
    await Promise.all(system.managers.map((manager) => manager.kill("SIGTERM")));
    // Its words wait, ahead of the introduction that it will be asked for.
    await eventually(async () => expect((await system.management.queue("unacked.state")).ready).toBeGreaterThan(3), {
      timeoutMs: 30_000,
    });
    const books = system.env.DATABASE_URL as string;
    await runStatement(books, "TRUNCATE observers, runs, commands, errors CASCADE");
    const other = '[{"type": "other", "version": "1", "description": "", "paramsSchema": {}}]';
    await runStatement(books, `UPDATE services SET types = '${other}', last_seq = 1`);
    await system.startManager();
    const ids = before.map(({ id }) => id).toSorted();
    await eventually(async () => expect((await system.listObservers()).map(({ id }) => id).toSorted()).toEqual(ids), {
      timeoutMs: 20_000,
    });
    const { body } = await system.call<ErrorPage>("GET", "/api/v1/errors?reason=unknown-observer");
    expect(body.items).toEqual([]);
  });

  it("on another server, whose transactions have lower numbers: what waits, and is in no queue, is sent again", async () => {
    await system.createMany("observer", 10);
    const { body: waiting } = await system.create("waiting", {}, { whenFull: "queue" });
    await system.untilQueued(1);
    await Promise.all(system.managers.map((manager) => manager.kill("SIGTERM")));
    const books = system.env.DATABASE_URL as string;
    for (const table of ["observers", "services"])
      await runStatement(books, `UPDATE ${table} SET changed_xid = '1000000000000'`);
    await system.management.purge("unacked.work.default");
    await system.startManager();
    const later = "SELECT name FROM observers WHERE changed_xid >= '1000000000000'";
    expect(await queryRows(books, later)).toEqual([]);
    await eventually(async () => expect(await system.get(waiting.id)).toMatchObject({ status: "Created", revision: 2 }), {
      timeoutMs: 30_000,
    });
    await system.check();
  });

  it.runIf(isTurnOf(1))(
    "where its name is another's: the living observer goes on under a name of its own, and the errors say whose its name is",
    async () => {
      const [living] = (await system.createMany("feed", 1)) as [ObserverView];
      const old = newObserverId();
      await runStatement(system.env.DATABASE_URL as string, "DELETE FROM runs");
      await runStatement(
        system.env.DATABASE_URL as string,
        `UPDATE observers SET id = '${old}', status = 'Redistributing', current_run_id = NULL, current_service_id = NULL`,
      );
      const other = `${living.name}-${living.id.slice(-8)}`;
      await eventually(
        async () => {
          const after = await system.listObservers();
          expect(after.map(({ id, name, status }) => [id, name, status]).toSorted()).toEqual(
            [
              [living.id, other, "Processing"],
              [old, living.name, "Processing"],
            ].toSorted(),
          );
        },
        { timeoutMs: 40_000 },
      );
      const { body } = await system.call<ErrorPage>("GET", "/api/v1/errors?reason=unknown-observer");
      expect(body.items.map((one) => one.observerId)).toEqual([living.id]);
      for (const known of [living.id, other, living.name, old]) expect(body.items[0]?.detail).toContain(known);
      expect(JSON.parse(body.items[0]?.body ?? "")).toMatchObject({ observerId: living.id, name: living.name });
      await system.check({ maxOverlapMs: 0 });
    },
    240_000,
  );
});
