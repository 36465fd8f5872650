import type { Socket } from "node:net";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Postgres } from "../../scripts/servers/postgres.mjs";
import { PostgresChangeLog } from "../../services/observer-manager/src/adapters/postgres/changes/change-feed.ts";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { migrate } from "../../services/observer-manager/src/adapters/postgres/connection/migrate.ts";
import { Notifications } from "../../services/observer-manager/src/adapters/postgres/connection/notifications.ts";
import { Primary } from "../../services/observer-manager/src/adapters/postgres/connection/primary.ts";
import { PrimaryClient } from "../../services/observer-manager/src/adapters/postgres/connection/primary-pool.ts";
import { DatabaseSide } from "../../services/observer-manager/src/adapters/postgres/database-side.ts";
import { type ChangeEvent, cursorOf } from "../../services/observer-manager/src/operations/changes/change-event.ts";
import { ChangeHub } from "../../services/observer-manager/src/operations/changes/change-hub.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, putObserver } from "../support/servers/books.ts";
import { privatePostgres, queryRows, runStatement, standbyOf } from "../support/servers/servers.ts";
import { primaryAndStandby } from "../support/servers/standby.ts";

const WHERE = "SELECT inet_server_port() AS port, pg_backend_pid() AS pid";

/** In this order: each test goes on with the servers as the one before has left them. */
describe("of a primary and its standby", () => {
  let first: Postgres;
  let second: Postgres;
  const open: { close(): Promise<unknown> }[] = [];

  beforeAll(async () => {
    first = await privatePostgres();
    second = await standbyOf(first);
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
  });

  /** The standby is named first. */
  function books() {
    const log = keptLog();
    const primary = new Primary([{ url: second.databaseUrl }, { url: first.databaseUrl }], log);
    const dataSource = createDataSource({ databaseUrl: second.databaseUrl, primary, log });
    open.push({
      close: async () => {
        primary.close();
        if (dataSource.isInitialized) await dataSource.destroy();
      },
    });
    const where = async () => (await dataSource.query<{ port: number; pid: number }[]>(WHERE))[0];
    return { primary, dataSource, log, where };
  }

  function listener(primary: Primary) {
    const notifications = new Notifications(primary, keptLog());
    let woken = 0;
    notifications.of("unacked_changes").onWake(() => (woken += 1));
    notifications.start();
    open.push(notifications);
    return { woken: () => woken };
  }

  test("the primary is used, wherever it stands in the list, and listened to", async () => {
    const { dataSource, where, log, primary } = books();
    await dataSource.initialize();
    expect((await where())?.port).toBe(first.port);
    const { woken } = listener(primary);
    await eventually(() => expect(woken()).toBe(1));
    await runStatement(first.databaseUrl, "NOTIFY unacked_changes");
    await eventually(() => expect(woken()).toBe(2));
    const said = JSON.stringify(log.lines);
    expect(said).toContain(`127.0.0.1:${first.port}`);
    expect(said).not.toContain(new URL(first.databaseUrl).password);
  });

  test("without a primary it is said of each server what is wrong with it, and no secret", async () => {
    await first.kill();
    const { dataSource } = books();
    await expect(dataSource.initialize()).rejects.toThrow(
      `none of the 2 databases is a primary: 127.0.0.1:${second.port} is a standby; 127.0.0.1:${first.port} does not answer (connect ECONNREFUSED 127.0.0.1:${first.port})`,
    );
    await first.start();
    await eventually(() => dataSource.initialize());
  });

  test("the promoted one is used; a connection that idled to one that was frozen meanwhile is ended, and nobody goes back", async () => {
    const { dataSource, where, log, primary } = books();
    await dataSource.initialize();
    const { woken } = listener(primary);
    await Promise.all([where(), where(), where()]); // idle ones
    let moved = 0;
    primary.onMoved(() => (moved += 1));
    process.kill(first.pid, "SIGSTOP"); // no new connections; its children go on
    await runStatement(second.databaseUrl, "SELECT pg_promote(true, 60)");
    await runStatement(second.databaseUrl, "CREATE TABLE only_here ()");
    // As the pool does where a connection could not be made.
    primary.doubt(primary.latest);
    await eventually(async () => expect((await where())?.port).toBe(second.port), { timeoutMs: 30_000 });
    process.kill(first.pid, "SIGCONT");
    for (let i = 0; i < 5; i += 1) expect((await where())?.port).toBe(second.port);
    expect(moved).toBe(1);
    const before = woken();
    await eventually(async () => {
      await runStatement(second.databaseUrl, "NOTIFY unacked_changes");
      expect(woken()).toBeGreaterThan(before + 1);
    });

    // The old one stands beside it as a primary, and is named before the new one is there.
    primary.doubt(primary.latest);
    expect((await where())?.port).toBe(second.port);
    expect(log.lines.map(({ fields }) => (fields as { event?: string }).event)).toContain("several-primaries");
    await second.kill();
    primary.doubt(primary.latest);
    await expect(primary.find()).rejects.toThrow(`127.0.0.1:${first.port} is an old primary (timeline 1, and 2 was seen)`);
    await second.start();
    await eventually(async () => expect((await where())?.port).toBe(second.port));
  }, 240_000);
});

describe("of a standby that is promoted beside its primary, which lives", () => {
  test("it is seen by looking around, used from then on, and told; a connection that breaks while it is asked harms nobody", async () => {
    const first = await privatePostgres();
    const second = await standbyOf(first);
    const log = keptLog();
    const primary = new Primary([{ url: first.databaseUrl }, { url: second.databaseUrl }], log);
    const dataSource = createDataSource({ databaseUrl: first.databaseUrl, primary, log });
    const port = async () => (await dataSource.query<{ port: number }[]>(WHERE))[0]?.port;
    try {
      await dataSource.initialize();
      expect(await port()).toBe(first.port);
      await primary.lookAround();
      expect(await port()).toBe(first.port);
      await runStatement(second.databaseUrl, "SELECT pg_promote(true, 60)");
      expect(await port()).toBe(first.port); // it answers, and nobody has looked
      await primary.lookAround();
      expect(await port()).toBe(second.port);
      expect(log.lines.map(({ fields }) => (fields as { event?: string }).event)).toContain("several-primaries");

      const breaking = {
        latest: { url: second.databaseUrl },
        check: async (client: PrimaryClient) => {
          (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
          await client.query("SELECT 1");
        },
        doubt: () => undefined,
      } as unknown as Primary;
      await expect(new PrimaryClient({ primary: breaking }).connect()).rejects.toThrow(/terminated|not queryable|closed/i);
    } finally {
      primary.close();
      await dataSource.destroy();
    }
  }, 240_000);
});

describe("of a standby that never saw the last migration", () => {
  test("it is migrated once it is promoted, by a manager that runs", async () => {
    const servers = await primaryAndStandby();
    const older = await createDataSource({ databaseUrl: servers.primaryUrl, log: keptLog() }).initialize();
    await migrate(older);
    await older.undoLastMigration();
    await older.destroy();
    await servers.caughtUp();
    servers.wire.blackhole();
    const database = new DatabaseSide({ databaseUrl: servers.databaseUrls, tls: {}, poolSize: 2, log: keptLog() });
    const migrated = (url: string) => queryRows(url, "SELECT name FROM migrations ORDER BY id");
    try {
      expect(await database.open()).toBe(0);
      const all = await migrated(servers.primaryUrl);
      expect(await migrated(servers.standbyUrl)).toEqual(all.slice(0, -1));
      await servers.primary.kill();
      await servers.promote();
      await eventually(async () => expect(await migrated(servers.standbyUrl)).toEqual(all), { timeoutMs: 20_000 });
      await eventually(async () => expect(await database.check()).toEqual({ ok: true, detail: "answers" }));
    } finally {
      await database.close();
    }
  }, 240_000);
});

describe("of a standby that never saw the last changes", () => {
  test("a place among them is none there once it is promoted, however far it has counted on", async () => {
    const servers = await primaryAndStandby();
    const open = (databaseUrl: string) => createDataSource({ databaseUrl, log: keptLog() }).initialize();
    const first = await open(servers.primaryUrl);
    const second = await open(servers.standbyUrl);
    const hub = new ChangeHub(new PostgresChangeLog(second), { onWake: () => undefined }, keptLog());
    const told: ChangeEvent[] = [];
    const follow = (cursor?: string) =>
      hub.subscribe({ send: (event) => told.push(event) > 0, end: () => undefined }, cursor);
    try {
      await migrate(first);
      await servers.caughtUp();
      servers.wire.blackhole();
      await putObserver(first);
      const { database, settled } = await new PostgresChangeLog(first).horizon();
      await servers.primary.kill();
      await servers.promote();
      for (let i = 0; i < 5; i += 1) await putObserver(second);
      follow(cursorOf({ database, xid: settled - 1n }));
      await eventually(() => expect(told.map(({ kind }) => kind)).toEqual(["resync", "ready"]));
      const { cursor } = told.at(-1) as { cursor: string };
      told.length = 0;
      follow(cursor);
      await eventually(() => expect(told.map(({ kind }) => kind)).toEqual(["ready"]));
    } finally {
      await hub.close();
      await second.destroy();
      await first.destroy().catch(() => undefined);
    }
  }, 240_000);
});
