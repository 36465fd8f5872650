import { randomUUID } from "node:crypto";
import { CALLS, LISTED_FIELDS, OBSERVER_STATUSES } from "@unacked/contracts";
import { beforeAll, describe, expect, test } from "vitest";
import { toObserverQuery } from "../../services/observer-manager/src/adapters/http/api/observers/observer-query.ts";
import { postgresReads } from "../../services/observer-manager/src/adapters/postgres/postgres-reads.ts";
import { decodeErrorCursor, decodeObserverCursor } from "../../services/observer-manager/src/operations/cursor.ts";
import type { ManagerReads } from "../../services/observer-manager/src/operations/manager-reads.ts";
import type { ObserverQuery } from "../../services/observer-manager/src/operations/observers/observer-tools.ts";
import { insert, putObserver, putService, useBooks } from "../support/servers/books.ts";

const books = useBooks("observers, runs, services, errors");
let reads: ManagerReads;

beforeAll(async () => {
  reads = postgresReads(books.dataSource, async (pools) => ({
    depths: [
      ...pools.map((pool) => ({ queue: `unacked.work.${pool}`, ready: 0, consumers: 1 })),
      { queue: "unacked.state", ready: 3, consumers: 1 },
    ],
    troubles: [],
    unwanted: [],
    broker: { brokerVersion: "3.10.8", queueType: "classic" },
    isBlocked: false,
  }));
});

const put = (columns: Record<string, unknown> = {}) => putObserver(books.dataSource, columns);
const list = (query: Partial<ObserverQuery> = {}) => reads.listObservers({ sort: "newest", limit: 100, ...query });
const namesOf = async (query: Partial<ObserverQuery>) => (await list(query)).items.map((item) => item.name).toSorted();

/** Reads all pages; `between` is called after each. */
async function readAll(
  query: { sort: ObserverQuery["sort"]; limit: number },
  between: (page: number) => Promise<unknown> = async () => undefined,
) {
  const ids: string[] = [];
  let after: ObserverQuery["after"];
  for (let page = 1; ; page += 1) {
    const { items, nextCursor } = await list({ ...query, after });
    ids.push(...items.map((item) => item.id));
    if (nextCursor === null) return ids;
    after = decodeObserverCursor(nextCursor, query.sort);
    await between(page);
  }
}

describe("the list of observers", () => {
  test("gives every observer once, newest first, also where many were made in one microsecond", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 25; count += 1) {
      const createdAt = `2026-01-01T00:00:00.00000${Math.floor(count / 10)}Z`;
      ids.push(await put({ created_at: createdAt }));
    }
    const read = await readAll({ sort: "newest", limit: 4 });
    expect(read.toSorted()).toEqual(ids.toSorted());
    const { items, total } = await list({ limit: 25 });
    expect(read).toEqual(items.map((item) => item.id));
    expect(total).toBe(25);
    expect(ids.indexOf(read[0] ?? "")).toBeGreaterThanOrEqual(20);
  });

  test("shows what was sent for what runs where nobody wrote that, as under a manager of 0.1.0", async () => {
    await put({ name: "as-wanted", status: "Processing" });
    await put({ name: "behind", status: "Processing", spec_version: 3, needed_spec_version: 2 });
    await put({ name: "without-a-run" });
    const shown = (await list()).items.map(({ name, observedSpecVersion, pending }) => [name, observedSpecVersion, pending]);
    expect(shown.toSorted()).toEqual([
      ["as-wanted", 1, null],
      ["behind", 1, "update"],
      ["without-a-run", null, null],
    ]);
  });

  test("neither repeats nor loses a row while others come and go", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 12; count += 1)
      ids.push(await put({ created_at: new Date(Date.UTC(2026, 0, 1, 0, 0, count)) }));
    const removed = ids[1];
    const read = await readAll({ sort: "newest", limit: 3 }, async (page) => {
      await put(); // newer than all: belongs to pages already read
      if (page === 1) await books.dataSource.query("DELETE FROM observers WHERE id = $1", [removed]);
      if (page === 2) await books.dataSource.query("DELETE FROM observers WHERE id = $1", [ids[6]]); // the last of page 2, its very cursor
    });
    expect(read).toEqual(ids.toReversed().filter((id) => id !== removed));
  });

  test("gives the oldest first in the other order exactly, also where many were made in one microsecond", async () => {
    for (let count = 0; count < 25; count += 1)
      await put({ created_at: `2026-01-01T00:00:00.00000${Math.floor(count / 10)}Z` });
    const newest = await readAll({ sort: "newest", limit: 25 });
    expect(await readAll({ sort: "oldest", limit: 4 })).toEqual(newest.toReversed());
  });

  test("sorts by attempts, and pages through equal ones", async () => {
    for (const attempts of [0, 3, 3, 3, 1, 0, 7]) await put({ attempts });
    const read = await readAll({ sort: "attempts", limit: 2 });
    const { items } = await list({ sort: "attempts" });
    expect(items.map((item) => item.attempts)).toEqual([7, 3, 3, 3, 1, 0, 0]);
    expect(read).toEqual(items.map((item) => item.id));
  });

  test("filters by status, type, pool, service, labels, a part of the name or the id, and counts what matches", async () => {
    const service = await putService(books.dataSource, { name: "s-1" });
    await put({
      name: "gold-USD",
      type: "price-watch",
      labels: { team: "a", env: "prod" },
      status: "Processing",
      current_service_id: service,
    });
    await put({ name: "gold_EUR", type: "price-watch", labels: { team: "a" }, pool: "gpu" });
    const id = await put({ name: "50%", status: "Failed" });
    expect(await namesOf({ status: ["Processing", "Failed"] })).toEqual(["50%", "gold-USD"]);
    expect(await namesOf({ type: "price-watch", pool: "gpu" })).toEqual(["gold_EUR"]);
    expect(await namesOf({ service: "s-1" })).toEqual(["gold-USD"]);
    expect(await namesOf({ service })).toEqual(["gold-USD"]);
    expect(await namesOf({ service: randomUUID() })).toEqual([]);
    expect(await namesOf({ labels: { team: "a" } })).toEqual(["gold-USD", "gold_EUR"]);
    expect(await namesOf({ labels: { team: "a", env: "prod" } })).toEqual(["gold-USD"]);
    expect(await namesOf(toObserverQuery(CALLS.listObservers.query.parse({ label: ["team=a", "team=b"] })))).toEqual([]);
    expect(await namesOf({ q: "GOLD" })).toEqual(["gold-USD", "gold_EUR"]);
    expect(await namesOf({ q: "gold_" })).toEqual(["gold_EUR"]);
    expect(await namesOf({ q: "%" })).toEqual(["50%"]);
    await put({ name: `copy-of-${id}` });
    expect(await namesOf({ q: id.toUpperCase() })).toEqual(["50%", `copy-of-${id}`]);
    expect(await namesOf({ q: id.slice(0, -1) })).toEqual([`copy-of-${id}`]);
    expect((await list({ type: "price-watch", limit: 1 })).total).toBe(2);
  });

  test("has no more of an error's message by columns than a table shows, as thousands may have failed of one long text", async () => {
    const text = "\u{1F4A5}".repeat(2_000);
    for (const message of ["short", text])
      await put({ status: "Retrying", last_error: { name: "Error", message, stack: "at x" }, last_error_at: new Date() });
    const { columns } = await reads.listObserverColumns({ sort: "oldest", limit: 10 });
    expect(columns.lastError.map((error) => error?.message)).toEqual(["short", "\u{1F4A5}".repeat(1_000)]);
    expect((await list({ sort: "oldest" })).items.map(({ lastError }) => lastError?.message)).toEqual(["short", text]);
  });

  test("is the same by columns, page by page, whatever an observer is", async () => {
    const [one, two] = [
      await putService(books.dataSource, { name: "s-1" }),
      await putService(books.dataSource, { name: "s-2" }),
    ];
    for (const service of [one, two, one])
      await put({ status: "Processing", current_service_id: service, epoch: 3, attempts: 2, labels: { team: "a" } });
    await put({ status: "Processing", pending: "pause", silent_since: new Date(), restarted_at: [new Date(), new Date(0)] });
    const error = { name: "Error", message: "boom", stack: "at x" };
    await put({ status: "Retrying", last_error: error, error_group: "boom", last_error_at: new Date() });
    for (let more = 0; more < 2; more += 1) await put();
    const shown: unknown[] = [];
    let after: ObserverQuery["after"];
    for (let isMore = true; isMore; ) {
      const { columns, services, total, nextCursor } = await reads.listObserverColumns({ sort: "newest", limit: 3, after });
      expect(total).toBe(7);
      for (const [place] of columns.id.entries())
        shown.push({
          ...Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[place]])),
          service: services[columns.service[place] ?? -1] ?? null,
        });
      expect(services).toHaveLength(new Set(columns.service.filter((place) => place !== null)).size);
      after = nextCursor === null ? undefined : decodeObserverCursor(nextCursor, "newest");
      isMore = after !== undefined;
    }
    const { items } = await list();
    expect(shown).toEqual(items.map((item) => Object.fromEntries(LISTED_FIELDS.map((name) => [name, item[name]]))));
  });

  test("finds a page by the index, not by sorting the table", async () => {
    await books.dataSource.query(`
      INSERT INTO observers (id, name, type, params, labels, pool, retry, status, created_at)
      SELECT gen_random_uuid(), 'o' || n, 't', '{}', '{}', 'default', '{}', 'Created', now() - n * interval '1 second'
      FROM generate_series(1, 5000) n`);
    await books.dataSource.query("ANALYZE observers");
    const asked: [string, unknown[]][] = [];
    const listening = {
      query: (sql: string, parameters: unknown[]) => (
        asked.push([sql, parameters]), books.dataSource.query(sql, parameters)
      ),
    };
    const after = { sort: "newest", createdAtMicros: String((Date.now() - 3_600_000) * 1_000), id: randomUUID() } as const;
    await postgresReads(listening as never, async () => null).listObservers({ sort: "newest", limit: 100, after });
    const [sql = "", parameters] = asked.find(([text]) => text.includes("LIMIT")) ?? [];
    const plan = await books.dataSource.query<{ "QUERY PLAN": string }[]>(`EXPLAIN ${sql}`, parameters);
    const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
    expect(text).toContain("observers_newest");
    // What is found is put in order once more, to be cut to its bytes.
    expect(text.slice(text.indexOf("Limit"))).not.toContain("Sort");
  });
});

describe("one observer", () => {
  test("is found by its id in any state, by its name only while it is not deleted", async () => {
    const old = await put({ name: "gold", status: "Deleted" });
    expect(await reads.findObserver({ kind: "name", name: "gold" })).toBeUndefined();
    const service = await putService(books.dataSource, { name: "s-1" });
    const living = await put({
      name: "gold",
      status: "Retrying",
      current_service_id: service,
      attempts: 2,
      epoch: 3,
      params: { __proto__x: [1, null] },
      last_error: { name: "Error", message: "broken" },
      last_error_at: new Date(1_000),
      next_attempt_at: new Date(2_000),
    });
    expect(await reads.findObserver({ kind: "name", name: "gold" })).toMatchObject({
      id: living,
      status: "Retrying",
      service: { id: service, name: "s-1" },
      attempts: 2,
      epoch: 3,
      params: { __proto__x: [1, null] },
      lastError: { name: "Error", message: "broken", at: "1970-01-01T00:00:01.000Z" },
      nextAttemptAt: "1970-01-01T00:00:02.000Z",
    });
    expect(await reads.findObserver({ kind: "id", id: old as never })).toMatchObject({
      id: old,
      status: "Deleted",
      service: null,
      lastError: null,
    });
    expect(await reads.findObserver({ kind: "id", id: randomUUID() as never })).toBeUndefined();
  });

  test("shows its runs, the newest first, also on a service that the books never met", async () => {
    const id = await put({ name: "gold" });
    const service = await putService(books.dataSource, { name: "s-1" });
    const run = { observer_id: id, generation: 1, revision: 1, started_at: new Date(1_000) };
    const ids = () => ({ id: randomUUID(), message_id: randomUUID() });
    const end = { ended_at: new Date(2_000), end_reason: "service-gone" };
    await insert(books.dataSource, "runs", { ...run, ...ids(), epoch: 1, state: "Ended", service_id: service, ...end });
    await insert(books.dataSource, "runs", { ...run, ...ids(), epoch: 2, state: "Current", service_id: randomUUID() });
    const runs = await reads.listRuns({ kind: "name", name: "gold" });
    expect(runs).toMatchObject({
      total: 2,
      items: [
        { epoch: 2, state: "Current", endedAt: null, endReason: null, service: { name: null } },
        { epoch: 1, state: "Ended", endReason: "service-gone", service: { id: service, name: "s-1" } },
      ],
    });
    expect(await reads.listRuns({ kind: "name", name: "none" })).toBeUndefined();
  });
});

describe("services", () => {
  test("are those that live, or all with the ended ones last, with what the books place on them", async () => {
    const types = [{ type: "ticker", description: "", paramsSchema: {} }];
    const busy = await putService(books.dataSource, { name: "b", worker_count: 3, running: 9, types });
    await putService(books.dataSource, { name: "a", state: "Suspect" });
    await putService(books.dataSource, { name: "c", state: "Gone", ended_at: new Date(), end_reason: "crash", running: 2 });
    await put({ status: "Processing", current_service_id: busy });
    await put({ status: "OnDeleting", current_service_id: busy });
    const living = await reads.listServices({ all: false });
    expect(living.items.map(({ name, running, free, types: known }) => ({ name, running, free, known }))).toEqual([
      { name: "a", running: 0, free: 10, known: [] },
      { name: "b", running: 2, free: 1, known: ["ticker"] },
    ]);
    expect(living.items[1]).toMatchObject({ reportedRunning: 9 });
    const all = await reads.listServices({ all: true });
    expect(all.total).toBe(3);
    expect(all.items.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(all.items[2]).toMatchObject({ state: "Gone", free: 0, reportedRunning: 0, endReason: "crash" });
  });
});

describe("the figures", () => {
  test("of empty books are all nothing", async () => {
    expect(await reads.stats()).toMatchObject({
      observers: { total: 0, byType: [] },
      workers: { total: 0, free: 0, byPool: [] },
      survivesLargestService: true,
      stateQueueLag: 3,
      oldestWaiting: null,
    });
  });

  test("name as waiting longest also what is sent again every few seconds, as the services with room lack its type", async () => {
    const lacking = (at: number) => ({
      status: "Created",
      last_error: { name: "UnknownType", message: "the service that had a free worker does not know the type" },
      last_error_at: new Date(at),
    });
    await put({ status: "Created", modified_at: new Date(5_000) });
    const ran = await put({ ...lacking(1_000), modified_at: new Date(9_000) });
    const run = { id: randomUUID(), observer_id: ran, service_id: randomUUID(), message_id: randomUUID(), generation: 1 };
    const life = {
      revision: 1,
      epoch: 1,
      state: "Ended",
      started_at: new Date(2_000),
      ended_at: new Date(9_000),
      end_reason: "stopped",
    };
    await insert(books.dataSource, "runs", { ...run, ...life });
    await put({ name: "lacking", ...lacking(3_000), modified_at: new Date(9_500) });
    expect((await reads.stats()).oldestWaiting).toMatchObject({ name: "lacking", since: "1970-01-01T00:00:03.000Z" });
  });

  test("count by status and type, and workers by pool: of Alive and Suspect services, less what occupies them", async () => {
    await putService(books.dataSource, { worker_count: 10 });
    await putService(books.dataSource, { worker_count: 4, state: "Suspect" });
    await putService(books.dataSource, { worker_count: 50, state: "Gone", ended_at: new Date() });
    await putService(books.dataSource, { worker_count: 2, pool: "gpu" });
    for (const status of OBSERVER_STATUSES)
      await put({ status, modified_at: new Date(status === "Redistributing" ? 1_000 : 2_000) });
    await put({ status: "Processing", type: "other", pool: "gpu" });
    await put({ status: "Created", pool: "nowhere" });
    const stats = await reads.stats();
    expect(stats.observers.total).toBe(OBSERVER_STATUSES.length + 2);
    expect(stats.observers.byStatus).toMatchObject({ Created: 2, Processing: 2, Deleted: 1 });
    expect(stats.observers.byType.map(({ type, total }) => ({ type, total }))).toEqual([
      { type: "ticker", total: OBSERVER_STATUSES.length + 1 },
      { type: "other", total: 1 },
    ]);
    expect(stats.workers).toEqual({
      total: 16,
      free: 10,
      byPool: [
        {
          pool: "default",
          services: 2,
          draining: 0,
          workers: 14,
          occupied: 5,
          desired: 15,
          free: 9,
          silent: 0,
          survivesLargestService: false,
        },
        {
          pool: "gpu",
          services: 1,
          draining: 0,
          workers: 2,
          occupied: 1,
          desired: 3,
          free: 1,
          silent: 0,
          survivesLargestService: false,
        },
        {
          pool: "nowhere",
          services: 0,
          draining: 0,
          workers: 0,
          occupied: 1,
          desired: 1,
          free: 0,
          silent: 0,
          survivesLargestService: false,
        },
      ],
    });
    expect(stats.oldestWaiting).toMatchObject({ status: "Redistributing", since: "1970-01-01T00:00:01.000Z" });
    expect(stats.queues?.map(({ queue }) => queue)).toContain("unacked.work.nowhere");
  });

  test("count no worker of a service that drains: it is free for nobody, and nobody's reserve", async () => {
    await putService(books.dataSource, { name: "stays", worker_count: 3 });
    const drains = await putService(books.dataSource, { name: "drains", worker_count: 9, drain: "asked", running: 2 });
    await put({ status: "Processing", current_service_id: drains });
    const { workers, survivesLargestService } = await reads.stats();
    expect(workers).toMatchObject({ total: 3, free: 2, byPool: [{ services: 2, draining: 1, occupied: 1 }] });
    expect(survivesLargestService).toBe(false);
    const { items } = await reads.listServices({ all: false });
    expect(items.map(({ name, draining, drained, free }) => ({ name, draining, drained, free }))).toEqual([
      { name: "drains", draining: true, drained: false, free: 0 },
      { name: "stays", draining: false, drained: false, free: 3 },
    ]);
  });

  test("say that the largest service's death would be survived exactly as long as the others' workers suffice", async () => {
    await putService(books.dataSource, { worker_count: 5 });
    await putService(books.dataSource, { worker_count: 3 });
    for (let count = 0; count < 3; count += 1) await put();
    expect((await reads.stats()).survivesLargestService).toBe(true);
    await put();
    expect((await reads.stats()).survivesLargestService).toBe(false);
  });
});

describe("errors", () => {
  test("come newest first, page by page", async () => {
    for (let count = 1; count <= 5; count += 1) {
      await insert(books.dataSource, "errors", {
        reason: "unreadable",
        detail: `${count}`,
        error_group: "<n>",
        queue: "q",
        reporter: "r",
        body: "{",
        body_bytes: 1,
      });
    }
    const first = await reads.listErrors({ limit: 3 });
    expect(first.items.map(({ detail }) => detail)).toEqual(["5", "4", "3"]);
    expect(first.total).toBe(5);
    const second = await reads.listErrors({ limit: 3, after: decodeErrorCursor(first.nextCursor ?? "") });
    expect(second.items.map(({ detail }) => detail)).toEqual(["2", "1"]);
    expect(second.nextCursor).toBeNull();
  });
});
