import type { ObserverView } from "@unacked/contracts";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Postgres } from "../../scripts/servers/postgres.mjs";
import { eventually } from "../support/eventually.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { freshDatabase, freshVhost, privateBroker, privatePostgres } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

describe("when a server is killed", () => {
  let broker: Awaited<ReturnType<typeof privateBroker>>;
  let database: Postgres;
  let system: System;

  // One of each for all tests: whatever a test kills it starts again, and each has a vhost and a database of its own.
  beforeAll(async () => {
    [broker, database] = await Promise.all([privateBroker(), privatePostgres()]);
  });
  beforeEach(async () => {
    const { amqpUrl, management } = await freshVhost(broker);
    const { databaseUrl } = await freshDatabase(database);
    system = new System({ amqpUrl, databaseUrl, management });
  });
  afterEach(() => system.close());

  const startAll = async () => {
    await system.startManager();
    await Promise.all([system.startService("service-1"), system.startService("service-2")]);
  };

  it.runIf(isTurnOf(2))(
    "the broker: all observers run again, each once, and no process was restarted",
    async () => {
      await startAll();
      const before = await system.createMany("observer", 20);
      await broker.kill();
      await broker.start();
      await eventually(
        async () => {
          const after = await system.observers(before.map((one) => one.id));
          expect(after.map((one) => [one.status, one.epoch])).toEqual(before.map(() => ["Processing", 2]));
        },
        { timeoutMs: 30_000, what: "all Processing in a second run" },
      );
      for (const each of [...system.services.values(), ...system.managers]) expect(each.exit()).toBeNull();
      await system.check({ maxOverlapMs: 0, timeoutMs: 30_000 });
    },
    240_000,
  );

  it.runIf(isTurnOf(0))(
    "the database: REST answers 503 meanwhile, services go on, then all goes on and nothing is lost",
    async () => {
      await startAll();
      const [first] = (await system.createMany("observer", 10)) as [ObserverView];
      await database.kill();
      const unavailable = await system.create("meanwhile");
      expect([unavailable.status, unavailable.body.code]).toEqual([503, "database-unavailable"]);
      expect(unavailable.headers.get("retry-after")).toMatch(/^\d+$/);
      expect((await system.call("GET", "/readyz")).status).toBe(503);
      expect((await system.call("GET", "/healthz")).status).toBe(200);
      // A service dies while nobody can write it down; the other takes its observers all the same.
      await system.service("service-1").kill("SIGKILL");
      const other = system.service("service-2");
      await eventually(() => expect(system.actingByPid().get(other.pid)?.size).toBe(10));
      await database.start();
      await system.untilReady();
      await eventually(
        async () => {
          const all = await system.listObservers();
          expect(all.map((one) => [one.status, one.service?.name])).toEqual(all.map(() => ["Processing", "service-2"]));
        },
        { timeoutMs: 30_000 },
      );
      await system.remove(first.id);
      expect((await system.create("afterwards")).status).toBe(201);
      await system.untilStatus(["afterwards"], "Processing");
      await system.check({ timeoutMs: 30_000 });
    },
    240_000,
  );

  const orders: [string, string[]][] = [
    ["servers, manager, services", ["servers", "manager", "services"]],
    ["services, manager, servers", ["services", "manager", "servers"]],
    ["manager, servers, services", ["manager", "servers", "services"]],
  ];
  it.each(inTurn(orders))(
    "everything at once, and started again in the order %s: everything runs again, each once",
    async (_, order) => {
      await startAll();
      const before = await system.createMany("observer", 15);
      const deleted = before[0] as ObserverView;
      await system.remove(deleted.id);
      // RabbitMQ writes acks to disk a moment later than it takes them: kill -9 may bring the message back.
      system.mayStartOnceMore(deleted.id);
      const port = Number(new URL(system.url).port);
      await Promise.all([
        broker.kill(),
        database.kill(),
        ...system.managers.map((manager) => manager.kill("SIGKILL")),
        ...[...system.services.values()].map((service) => service.kill("SIGKILL")),
      ]);
      for (const part of order) await startPart(part, port);
      await system.untilReady();
      const ids = before.slice(1).map((one) => one.id);
      await eventually(
        async () => {
          const after = await system.observers(ids);
          expect(after.map((one) => one.status)).toEqual(ids.map(() => "Processing"));
          expect(after.every((one) => [...system.services.keys()].includes(one.service?.name ?? ""))).toBe(true);
          expect(system.acts().length).toBeGreaterThan(0);
        },
        { timeoutMs: 30_000 },
      );
      expect((await system.get(deleted.id)).status).toBe("Deleted");
      await system.check({ timeoutMs: 30_000 });
    },
    240_000,
  );

  async function startPart(part: string, port: number): Promise<void> {
    if (part === "servers") await Promise.all([broker.start(), database.start()]);
    if (part === "manager") await system.startManager({ port, untilReady: false });
    if (part !== "services") return;
    for (const name of ["service-1", "service-2"]) {
      const service = await system.startService(name, { untilKnown: false });
      await service.waitForEvent("listening");
    }
  }
});
