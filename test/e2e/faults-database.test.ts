import type { ObserverView, ProblemDetails } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Postgres } from "../../scripts/servers/postgres.mjs";
import { type TcpProxy, tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshVhost, privatePostgres } from "../support/servers/servers.ts";
import { System } from "../support/system/system.ts";

/** How long the database is down. Longer than three missed ServiceAlive: the silence must not be held against a service. */
const DOWN_MS = 20_000;
/** How long the wire is dead: longer than a statement may take, so that the manager finds out by itself. */
const PARTED_MS = 15_000;

describe("a failover", () => {
  let database: Postgres;
  let wire: TcpProxy;
  let system: System;

  beforeEach(async () => {
    database = await privatePostgres();
    wire = await tcpProxy(database.databaseUrl);
    const { amqpUrl, management } = await freshVhost();
    system = new System({ amqpUrl, databaseUrl: wire.through(database.databaseUrl), management });
    await system.startManager();
    await Promise.all([system.startService("service-1"), system.startService("service-2", { workers: 20 })]);
  });
  afterEach(() => system.close());

  /** All act on service-2, and still do when `untilMs` has come. The books cannot be asked meanwhile. */
  async function allRunOnTheOther(before: ObserverView[], untilMs: number): Promise<void> {
    const { pid } = system.service("service-2");
    const idle = () => before.filter((one) => !system.actingByPid(1_000).get(pid)?.has(one.id));
    await eventually(() => expect(idle()).toEqual([]));
    await eventually(
      () => {
        expect(idle()).toEqual([]);
        return performance.now() >= untilMs;
      },
      { timeoutMs: DOWN_MS + 5_000 },
    );
  }

  async function booksAreRight(before: ObserverView[]): Promise<number> {
    const backMs = performance.now();
    await eventually(
      async () => {
        const after = await system.observers(before.map((one) => one.id));
        expect(after.map((one) => [one.status, one.service?.name, one.epoch])).toEqual(
          before.map((one) => ["Processing", "service-2", one.service?.name === "service-1" ? 2 : 1]),
        );
        expect((await system.listServices("?all=true")).map((one) => [one.name, one.state]).toSorted()).toEqual([
          ["service-1", "Gone"],
          ["service-2", "Alive"],
        ]);
      },
      { timeoutMs: 30_000 },
    );
    return performance.now() - backMs;
  }

  it.runIf(isTurnOf(1))(
    "goes on while the database is down for 20 s in the middle of it, and the books are right soon after",
    async () => {
      const before = await system.createMany("observer", 10);
      const [returning] = (await system.createMany("returning", 1, { returnAfterMs: DOWN_MS / 2 })) as [ObserverView];
      const endMs = performance.now() + DOWN_MS;
      await Promise.all([system.service("service-1").kill("SIGKILL"), database.kill()]);
      await allRunOnTheOther(before, endMs);
      await database.start();
      console.log(`database down ${DOWN_MS} ms: books right ${(await booksAreRight(before)).toFixed(0)} ms after its start`);
      // It ended while nobody could write it down: it must neither be forgotten nor run again.
      await system.untilStatus([returning.id], "Completed");
      expect(await system.get(returning.id)).toMatchObject({ revision: 1 });
      await system.remove((before[0] as ObserverView).id);
      await system.check();
    },
    240_000,
  );

  it.runIf(isTurnOf(2))(
    "goes on while the manager is parted from the database without a word: it answers 503, another keeps the books",
    async () => {
      const partedUrl = system.url;
      const standby = await system.startManager({ env: { DATABASE_URL: database.databaseUrl } });
      const before = await system.createMany("observer", 10);
      const endMs = performance.now() + PARTED_MS;
      wire.blackhole();
      await system.service("service-1").kill("SIGKILL");
      const askedMs = performance.now();
      const refused = system
        .call<ProblemDetails>("POST", "/api/v1/observers", { name: "meanwhile", type: "stamp", params: {} }, partedUrl)
        .then(({ status, body }) => ({ status, code: body.code, ms: performance.now() - askedMs }));
      const [{ ms, ...answer }, bookMs] = await Promise.all([
        refused,
        booksAreRight(before),
        allRunOnTheOther(before, endMs),
      ]);
      console.log(`parted: 503 after ${ms.toFixed(0)} ms; books right by another manager after ${bookMs.toFixed(0)} ms`);
      expect(answer).toEqual({ status: 503, code: "database-unavailable" });
      expect(ms).toBeLessThan(40_000);
      expect((await system.call("GET", "/readyz", undefined, partedUrl)).status).toBe(503);

      // What it had sent into the hole arrives now, long after another has gone on.
      await wire.heal();
      await system.untilReady(partedUrl);
      await booksAreRight(before);
      await standby.kill("SIGKILL");
      system.url = partedUrl;
      await system.remove((before[0] as ObserverView).id);
      await system.check();
    },
    240_000,
  );
});
