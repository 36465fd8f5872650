import { setTimeout as sleep } from "node:timers/promises";
import type { ObserverView } from "@unacked/contracts";
import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { PostgresChangeLog } from "../../services/observer-manager/src/adapters/postgres/changes/change-feed.ts";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { Notifications } from "../../services/observer-manager/src/adapters/postgres/connection/notifications.ts";
import { Primary } from "../../services/observer-manager/src/adapters/postgres/connection/primary.ts";
import { findObserver } from "../../services/observer-manager/src/adapters/postgres/observers/observer-reads.ts";
import type { ChangeEvent } from "../../services/observer-manager/src/operations/changes/change-event.ts";
import { ChangeHub, type ChangeSubscription } from "../../services/observer-manager/src/operations/changes/change-hub.ts";
import { MAX_REPLAYED_ROWS } from "../../services/observer-manager/src/operations/changes/change-stream.ts";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, putObserver, putService, type Queryable, useBooks } from "../support/servers/books.ts";

const books = useBooks();

const NOTIFY = "NOTIFY unacked_changes";
const TOUCH =
  "UPDATE observers SET modified_at = now(), epoch = epoch + 1, changed_xid = pg_current_xact_id() WHERE id = $1";

/** What each manager has: its own connections, its own look at the books. */
async function manager(databaseUrl = books.databaseUrl, options: { listens?: boolean } = {}) {
  const log = keptLog();
  const dataSource = await createDataSource({ databaseUrl, poolSize: 3, log }).initialize();
  const notifications = new Notifications(new Primary([{ url: databaseUrl }], log), log);
  const hub = new ChangeHub(new PostgresChangeLog(dataSource), notifications.of("unacked_changes"), log);
  if (options.listens !== false) notifications.start();
  onTestFinished(async () => {
    await hub.close();
    await notifications.close();
    await dataSource.destroy();
  });
  return hub;
}

/** A client that keeps what it is told. `paused`: it says after each event that it has no more room. */
class Client {
  readonly events: ChangeEvent[] = [];
  paused = false;
  ended = false;
  readonly subscription: ChangeSubscription;

  constructor(hub: ChangeHub, lastEventId?: string) {
    const send = (event: ChangeEvent) => {
      this.events.push(event);
      return !this.paused;
    };
    this.subscription = hub.subscribe({ send, end: () => (this.ended = true) }, lastEventId);
  }

  get cursor(): string | undefined {
    return this.events.findLast((event) => event.cursor !== undefined)?.cursor;
  }

  observers(): ObserverView[] {
    return this.events.flatMap((event) => (event.kind === "observer" ? [event.view] : []));
  }

  ids = (): string[] => this.observers().map((view) => view.id);
  kinds = (): string[] => this.events.map((event) => event.kind);
  ready = () => eventually(() => this.kinds().includes("ready"), { what: "the client is live" });
}

async function liveClient(hub: ChangeHub, lastEventId?: string): Promise<Client> {
  const client = new Client(hub, lastEventId);
  await client.ready();
  return client;
}

/** A connection with a transaction that has already written, so that its number is older than what follows. */
async function openTransaction() {
  const runner = books.dataSource.createQueryRunner();
  await runner.startTransaction();
  onTestFinished(async () => {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  });
  return runner;
}

const change = async (on: Queryable = books.dataSource) => {
  const id = await putObserver(on);
  await on.query(NOTIFY);
  return id;
};

/** The server is shared: while somebody else's transaction runs, a client may also be told of what was shortly before. */
const toldOf = (client: Client, ids: string[]) => client.ids().filter((id) => ids.includes(id));

const received = (client: Client, ids: string[]) =>
  eventually(() => expect(toldOf(client, ids)).toEqual(ids), { timeoutMs: 15_000, what: "the client has been told of all" });

/** It cannot go on from there. */
const toldAhead = (client: Client, id: string) =>
  eventually(
    () => {
      const event = client.events.find((one) => one.kind === "observer" && one.view.id === id);
      expect(event).toBeDefined();
      expect(event?.cursor).toBeUndefined();
    },
    { timeoutMs: 15_000, what: "the client has been told ahead" },
  );

describe("a live client", () => {
  test("is told of observers and services as they change", async () => {
    const client = await liveClient(await manager());
    const service = await putService(books.dataSource, { name: "s-1" });
    const id = await change();
    await received(client, [id]);
    expect(client.events.find((event) => event.kind === "service")).toMatchObject({ view: { id: service, name: "s-1" } });
    await books.dataSource.query(TOUCH, [id]);
    await books.dataSource.query(NOTIFY);
    await eventually(() => expect(client.observers().at(-1)).toMatchObject({ id, epoch: 1 }));
  });

  test("hears of a change without waiting for the slow look", async () => {
    const client = await liveClient(await manager());
    const tookMs: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      await sleep(200); // the hub has gone to sleep until it is woken or 2 s are over
      const startedAt = performance.now();
      const id = await change();
      await received(client, [id]);
      tookMs.push(performance.now() - startedAt);
    }
    expect(Math.min(...tookMs)).toBeLessThan(1_500);
  });

  test("hears of it by the slow look when notifications do not come", async () => {
    const client = await liveClient(await manager(books.databaseUrl, { listens: false }));
    await sleep(200);
    await received(client, [await change()]);
  });

  test("is told of a transaction that commits late, and of a later one only after it", async () => {
    const client = await liveClient(await manager());
    const late = await openTransaction();
    const first = await putObserver(late);
    const second = await change();
    await sleep(300);
    expect(toldOf(client, [first, second])).toEqual([]);
    await late.query(NOTIFY);
    await late.commitTransaction();
    await received(client, [first, second]);
  });

  test("is told ahead of a transaction that stays open what others write meanwhile, and all once more when it is over", async () => {
    const hub = await manager();
    const client = await liveClient(hub);
    const before = await change();
    await received(client, [before]);
    const [oldest, younger] = [await openTransaction(), await openTransaction()];
    const hidden = await putObserver(oldest);
    const later = await putObserver(younger);
    const seen = await change();
    await toldAhead(client, seen);
    await books.dataSource.query(TOUCH, [seen]);
    await books.dataSource.query(NOTIFY);
    await eventually(() => expect(client.observers().findLast(({ id }) => id === seen)).toMatchObject({ epoch: 1 }));
    await younger.query(NOTIFY);
    await younger.commitTransaction();
    await toldAhead(client, later);
    expect(client.ids()).not.toContain(hidden);
    // Who comes back hears of all that, too, here and at a manager that has just begun.
    for (const other of [hub, await manager()]) {
      const again = await liveClient(other, client.cursor);
      expect(new Set(toldOf(again, [before, seen, later]))).toEqual(new Set([seen, later]));
      expect(again.cursor).toBe(again.events.find(({ kind }) => kind === "ready")?.cursor);
    }
    const toldBefore = client.events.length;
    await oldest.query(NOTIFY);
    await oldest.commitTransaction();
    await eventually(() => {
      const ids = client.events.slice(toldBefore).flatMap((event) => (event.kind === "observer" ? [event.view.id] : []));
      expect(ids).toEqual([hidden, later, seen]);
    });
    expect(client.events.at(-1)?.cursor).toBeDefined();
  });

  test("is not told again and again of what is ahead", async () => {
    const client = await liveClient(await manager());
    await putObserver(await openTransaction());
    const seen = await change();
    await toldAhead(client, seen);
    const ids = [await change(), await change(), await change()];
    await received(client, ids);
    expect(toldOf(client, [seen, ...ids])).toEqual([seen, ...ids]);
  });

  test("is told of the later ones when the older is rolled back, without a notification", async () => {
    const client = await liveClient(await manager());
    const late = await openTransaction();
    await putObserver(late);
    const second = await change();
    await sleep(100);
    await late.rollbackTransaction();
    await received(client, [second]);
  });

  test("is told without delay while a transaction of another database of the server is open", async () => {
    const client = await liveClient(await manager());
    const elsewhere = new pg.Client({ connectionString: new URL("/postgres", books.databaseUrl).href });
    await elsewhere.connect();
    onTestFinished(() => elsewhere.end());
    await elsewhere.query("BEGIN; CREATE TEMP TABLE written (at timestamptz)");
    const ids = [await change(), await change()];
    await received(client, ids);
    expect(client.observers().every(({ id }) => ids.includes(id))).toBe(true);
    expect(client.events.at(-1)).toMatchObject({ view: { id: ids[1] }, cursor: expect.any(String) });
    await elsewhere.query("COMMIT");
  });

  test("gets a place to go on from only where a transaction is complete", async () => {
    const client = await liveClient(await manager());
    const both = await openTransaction();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.push(await putObserver(both));
    await both.query(NOTIFY);
    await both.commitTransaction();
    await eventually(() => toldOf(client, ids).length === 3);
    const told = client.events.filter((event) => event.kind === "observer" && ids.includes(event.view.id));
    expect(told.map((event) => event.cursor !== undefined)).toEqual([false, false, true]);
  });

  test("goes on being told after the connections to the database were cut", async () => {
    const wire = await tcpProxy(books.databaseUrl);
    const client = await liveClient(await manager(wire.through(books.databaseUrl)));
    await wire.refuse();
    wire.reset();
    const id = await change();
    await sleep(300);
    await wire.heal();
    await eventually(() => expect(client.ids()).toContain(id), { timeoutMs: 15_000 });
    expect(client.kinds()).not.toContain("resync");
  });

  test("is ended when its manager closes", async () => {
    const hub = await manager();
    const client = await liveClient(hub);
    await hub.close();
    expect(client.ended).toBe(true);
    expect(new Client(hub).ended).toBe(true);
  });
});

test("the connection that listens is closed at once, also in the middle of being made", async () => {
  const notifications = new Notifications(new Primary([{ url: books.databaseUrl }], keptLog()), keptLog());
  notifications.of("unacked_changes");
  notifications.start();
  const startedAt = performance.now();
  await notifications.close();
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});

describe("a client that comes back", () => {
  test("goes on at another manager where it was", async () => {
    const client = await liveClient(await manager());
    const seen = await change();
    await received(client, [seen]);
    client.subscription.close();
    const missed = [await change(), await change()];
    const again = await liveClient(await manager(), client.cursor);
    await received(again, missed);
    const next = await change();
    await received(again, [...missed, next]);
    expect(again.ids()).not.toContain(seen);
    expect(again.kinds()).not.toContain("resync");
  });

  test("is told to read the lists again when its place is unknown, in the future, or no place at all", async () => {
    const hub = await manager();
    const [server] = (await liveClient(hub)).cursor?.split("-") ?? [];
    for (const place of [
      `${server}-999999999999`,
      `${server}-${"9".repeat(19)}`,
      `${server}-${"9".repeat(20)}`,
      "1",
      "-1",
      "x",
      "1e3",
    ]) {
      const client = await liveClient(hub, place);
      expect(client.kinds().slice(0, 2)).toEqual(["resync", "ready"]);
      expect(client.events[0]).toMatchObject({
        reason: "unknown-position",
        cursor: expect.stringMatching(/^\d+\.\d+\.\d+-\d+$/),
      });
      client.subscription.close();
    }
  });

  test("is told to read the lists again when too much has changed, and not when it is just not too much", async () => {
    const hub = await manager();
    const insertMany = (count: number) =>
      books.dataSource.query(
        `INSERT INTO observers (id, name, type, params, labels, pool, retry, status)
         SELECT gen_random_uuid(), gen_random_uuid() || 'x', 't', '{}', '{}', 'default',
                '{"maxAttempts":1,"delaysMs":[1],"resetAfterMs":1}', 'Created' FROM generate_series(1, $1::int)`,
        [count],
      );
    const before = await liveClient(hub);
    await received(before, [await change()]); // who has heard that is behind all rows of before, whoever writes elsewhere
    const { cursor } = before;
    await insertMany(MAX_REPLAYED_ROWS);
    const inTime = await liveClient(hub, cursor);
    await eventually(() => expect(new Set(inTime.ids()).size).toBe(MAX_REPLAYED_ROWS));
    expect(inTime.observers()).toHaveLength(MAX_REPLAYED_ROWS);
    expect(inTime.kinds()).not.toContain("resync");
    await received(inTime, [await change()]);
    const tooLate = await liveClient(hub, cursor);
    expect(tooLate.kinds().slice(0, 2)).toEqual(["resync", "ready"]);
    expect(tooLate.events[0]).toMatchObject({ reason: "too-far-behind" });
  });
});

describe("a slow client", () => {
  test("is told no more than it has room for, and the rest from the books when it has room again", async () => {
    const hub = await manager();
    const [slow, quick] = [await liveClient(hub), await liveClient(hub)];
    slow.paused = true;
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) ids.push(await change());
    await received(quick, ids);
    expect(toldOf(slow, ids).length).toBeLessThanOrEqual(1);
    slow.paused = false;
    slow.subscription.resume();
    await eventually(() => expect(new Set(toldOf(slow, ids))).toEqual(new Set(ids)));
    await received(slow, [await change()]);
  });

  test("can leave while nothing more is sent to it", async () => {
    const hub = await manager();
    const client = await liveClient(hub);
    client.paused = true;
    await change();
    await change();
    await eventually(() => client.observers().length > 0);
    client.subscription.close();
    expect(hub.subscriberCount).toBe(0);
  });
});

describe("whatever the order of commits", () => {
  test("a client that comes and goes between two managers ends up with what the books hold", async () => {
    const [one, other] = [await manager(), await manager()];
    const ids: string[] = [];
    for (let count = 0; count < 12; count += 1) ids.push(await putObserver(books.dataSource));
    const known = new Map<string, ObserverView>();
    const writers = [1, 2, 3].map((seed) => writeForAWhile(ids, seed));
    let writing = true;
    const written = Promise.all(writers).then(() => (writing = false));
    let cursor: string | undefined = (await liveClient(one)).cursor;
    for (let visit = 0; writing || visit < 4; visit += 1) {
      const client = new Client(visit % 2 === 0 ? other : one, cursor);
      await sleep(20 + ((visit * 37) % 60));
      client.subscription.close();
      // As a browser does: everything before the last id it saw is taken, and what came after it too.
      for (const view of client.observers()) known.set(view.id, view);
      cursor = client.cursor ?? cursor;
      expect(client.kinds()).not.toContain("resync");
    }
    await written;
    const last = await liveClient(one, cursor);
    // The server is shared: it is live, and yet waits for a transaction of somebody else before it tells of the last ones.
    await eventually(async () => {
      for (const view of last.observers()) known.set(view.id, view);
      for (const id of ids) {
        const view = await findObserver(books.dataSource, { kind: "id", id: id as never });
        if (view?.epoch !== 0) expect(known.get(id)).toEqual(view);
      }
    });
    expect(known.size).toBeGreaterThan(ids.length / 2);
  });

  /** Transactions of one or two rows, some of them slow to commit. */
  async function writeForAWhile(ids: string[], seed: number): Promise<void> {
    for (let turn = 0; turn < 25; turn += 1) {
      const runner = await openTransaction();
      const rows = [ids[(seed * 5 + turn * 7) % ids.length], ids[(seed + turn * 3) % ids.length]].toSorted();
      for (const id of new Set(rows)) await runner.query(TOUCH, [id]);
      await sleep((seed * turn * 13) % 25);
      await runner.query(NOTIFY);
      await runner.commitTransaction();
      await runner.release();
    }
  }
});
