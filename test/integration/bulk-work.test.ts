import { randomUUID } from "node:crypto";
import type { ObserverStatus } from "@unacked/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import { missingActions } from "../../services/observer-manager/src/adapters/postgres/access/committed-actions.ts";
import { PostgresBulkWorkStore } from "../../services/observer-manager/src/adapters/postgres/bulk-work/postgres-bulk-work-store.ts";
import { BulkWorkDoer } from "../../services/observer-manager/src/operations/bulk-work/bulk-work-doer.ts";
import { eventually } from "../support/eventually.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { keptLog, putObserver } from "../support/servers/books.ts";

const WORK = "/api/v1/work";

const { books, manager } = useHttpManager({ emptied: "observers, services, commands, works, audit" });

async function begin(json: object) {
  const { status, body, text } = await manager.call("POST", WORK, { json });
  expect(status, text).toBe(201);
  return body;
}
const read = async (id: string) => (await manager.call("GET", `${WORK}/${id}`)).body;
const cancel = (id: string) => manager.call("POST", `${WORK}/${id}/cancel`);

/** Many at once, as a statement: so many single inserts take long. */
const putMany = (count: number, type: string, status: ObserverStatus = "Failed") =>
  books.dataSource.query(
    `INSERT INTO observers (id, name, type, params, pool, status, retry, labels)
     SELECT gen_random_uuid(), $1 || '-' || n, $1, '{}', 'default', $2, '{}', '{}' FROM generate_series(1, $3) AS n`,
    [type, status, count],
  );

function startDoer(): BulkWorkDoer {
  const store = new PostgresBulkWorkStore(books.dataSource);
  const doer = new BulkWorkDoer({ store, mayDo: () => true, committed: () => undefined, log: keptLog() });
  doer.start();
  onTestFinished(() => doer.stop());
  return doer;
}

const untilOver = (id: string) =>
  eventually(async () => {
    const work = await read(id);
    expect(work.status).not.toBe("Running");
    return work;
  });

describe("work on very many", () => {
  test("asks each that matches once, also where two managers are at it at once, and the trail counts them", async () => {
    await putMany(2_000, "many");
    await putMany(3, "others");
    const { id } = await begin({ act: "restart", filter: { type: "many" } });
    expect(await read(id)).toMatchObject({ status: "Running", total: 2_000, done: 0, remaining: 2_000, msLeft: null });
    startDoer();
    startDoer();
    expect(await untilOver(id)).toMatchObject({ status: "Done", done: 2_000, failed: 0, remaining: 0, leftAlone: 0 });
    const [row] = await books.dataSource.query(
      `SELECT count(*)::int AS restarted, max(revision)::int AS most FROM observers WHERE status = 'Created' AND type = 'many'`,
    );
    expect(row).toEqual({ restarted: 2_000, most: 2 });
    const { items } = (await manager.call("GET", "/api/v1/audit")).body;
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ action: "observer.restart", count: 2_000, details: { work: id } });
    expect(items[0].targets).toHaveLength(10);
  });

  test("is not missing where a promoted standby has it from before its last steps, as it does them again", async () => {
    await putMany(20, "some");
    const { id } = await begin({ act: "restart", filter: { type: "some" } });
    const [{ audit_id }] = await books.dataSource.query("SELECT audit_id FROM works WHERE id = $1", [id]);
    const done = [{ id: audit_id, count: 20 }];
    expect(await missingActions(books.dataSource, done)).toEqual(new Set());
    await books.dataSource.query("DELETE FROM works");
    expect(await missingActions(books.dataSource, done)).toEqual(new Set([audit_id]));
  });

  test("tells by reason whom it could not do it to, and names the first", async () => {
    await putMany(20, "over", "Completed");
    await putMany(5, "over-too", "Failed");
    const { id } = await begin({ act: "pause", all: true });
    startDoer();
    const work = await untilOver(id);
    expect(work).toMatchObject({ status: "Done", total: 25, done: 0, failed: 25 });
    expect(work.refused).toMatchObject([{ code: "not-pausable", count: 25 }]);
    expect(work.refused[0].names).toHaveLength(5);
    expect(work.refused[0].names.every((name: string) => name.startsWith("over"))).toBe(true);
  });

  test("names the first of each reason, also of one that is rare and comes last in a step", async () => {
    await putMany(60, "over", "Completed");
    for (const n of [1, 2, 3]) {
      const id = `ffffffff-ffff-4fff-bfff-fffffffffff${n}`;
      await putObserver(books.dataSource, { id, name: `ends-${n}`, status: "OnDeleting" });
    }
    const { id } = await begin({ act: "pause", all: true });
    startDoer();
    const { refused } = await untilOver(id);
    expect(refused).toMatchObject([
      { code: "not-pausable", count: 60 },
      { code: "already-deleting", count: 3, names: ["ends-1", "ends-2", "ends-3"] },
    ]);
    expect(refused[0].names).toHaveLength(5);
  });

  test("leaves alone what was created after it began, and what does not match any more", async () => {
    await putMany(10, "some");
    const { id } = await begin({ act: "restart", filter: { type: "some", status: "Failed" } });
    await putObserver(books.dataSource, { name: "later", type: "some", status: "Failed" });
    await books.dataSource.query("UPDATE observers SET status = 'Completed' WHERE name IN ('some-1', 'some-2')");
    startDoer();
    expect(await untilOver(id)).toMatchObject({ total: 10, done: 8, leftAlone: 2 });
    const later = await manager.call("GET", "/api/v1/observers/later");
    expect(later.body.status).toBe("Failed");
  });

  test("is cancelled between two steps: what was done stays, and it says who cancelled it", async () => {
    await putMany(1_000, "half");
    const { id } = await begin({ act: "restart", filter: { type: "half" } });
    const store = new PostgresBulkWorkStore(books.dataSource);
    const doer = new BulkWorkDoer({
      store: {
        isAnyRunning: () => store.isAnyRunning(),
        advance: async (...asked: Parameters<PostgresBulkWorkStore["advance"]>) => {
          const hasMoved = await store.advance(...asked);
          await cancel(id);
          return hasMoved;
        },
      } as unknown as PostgresBulkWorkStore,
      mayDo: () => true,
      committed: () => undefined,
      log: keptLog(),
    });
    doer.start();
    onTestFinished(() => doer.stop());
    expect(await untilOver(id)).toMatchObject({
      status: "Cancelled",
      done: 250,
      leftAlone: 750,
      cancelledBy: "anonymous",
      remaining: 0,
    });
    const [{ left }] = await books.dataSource.query("SELECT count(*)::int AS left FROM observers WHERE status = 'Failed'");
    expect(left).toBe(750);
    expect((await cancel(id)).status).toBe(200);
  });

  test("of what this manager's peers cannot do yet is not begun, and waits where it was", async () => {
    await putMany(3, "waiting");
    const id = randomUUID();
    manager.setMayPause(false);
    expect((await manager.call("POST", WORK, { json: { id, act: "pause", all: true } })).body.code).toBe("not-ready");
    manager.setMayPause(true);
    await begin({ id, act: "pause", all: true });
    const store = new PostgresBulkWorkStore(books.dataSource);
    expect(await store.advance({ acts: ["stop"], atOnce: 10 }, async () => ({ accepted: 0, refused: [] }))).toBe(false);
    expect(await read(id)).toMatchObject({ status: "Running", waitsFor: null });
    manager.setMayPause(false);
    const why = expect.stringContaining("that all managers");
    expect(await read(id)).toMatchObject({ status: "Running", waitsFor: why });
    expect((await manager.call("GET", WORK)).body.items).toMatchObject([{ id, waitsFor: why }]);
    manager.setMayPause(true);
  });

  test("says why its steps fail, until one does not", async () => {
    await putMany(3, "locked");
    const { id } = await begin({ act: "restart", filter: { type: "locked" } });
    const { dataSource } = books;
    await dataSource.query(
      "ALTER TABLE observers ADD CONSTRAINT stays_failed CHECK (type <> 'locked' OR status = 'Failed')",
    );
    onTestFinished(() => dataSource.query("ALTER TABLE observers DROP CONSTRAINT IF EXISTS stays_failed"));
    startDoer();
    await eventually(async () =>
      expect(await read(id)).toMatchObject({
        status: "Running",
        done: 0,
        waitsFor: expect.stringContaining("stays_failed"),
      }),
    );
    await dataSource.query("ALTER TABLE observers DROP CONSTRAINT stays_failed");
    expect(await untilOver(id)).toMatchObject({ status: "Done", done: 3, waitsFor: null });
  });

  test("of nothing is over at once; one that says neither which nor all is refused with its place", async () => {
    const { id } = await begin({ act: "stop", filter: { type: "nobodys" } });
    startDoer();
    expect(await untilOver(id)).toMatchObject({ status: "Done", total: 0, done: 0 });
    for (const json of [{ act: "stop" }, { act: "stop", filter: {} }, { act: "stop", all: true, filter: { q: "x" } }])
      expect((await manager.call("POST", WORK, { json })).body).toMatchObject({
        code: "invalid-body",
        errors: [{ pointer: "/all" }],
      });
  });

  test("is listed, the newest first, page by page; and forgotten some time after its end", async () => {
    const ids = [];
    for (let i = 0; i < 3; i += 1) ids.unshift((await begin({ act: "stop", filter: { type: "nobodys" } })).id);
    const first = (await manager.call("GET", `${WORK}?limit=2&status=Running`)).body;
    expect(first).toMatchObject({ total: 3, isTotalExact: true });
    const next = (await manager.call("GET", `${WORK}?limit=2&cursor=${first.nextCursor}`)).body;
    expect([...first.items, ...next.items].map(({ id }) => id)).toEqual(ids);
    startDoer();
    for (const id of ids) await untilOver(id);
    const store = new PostgresBulkWorkStore(books.dataSource);
    expect(await store.forget(3_600_000, 10)).toBe(0);
    expect(await store.forget(-1_000, 10)).toBe(3);
  });
});
