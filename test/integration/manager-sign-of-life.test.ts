import type { EventBatch, ServiceAlive, ServiceId } from "@unacked/contracts";
import { beforeAll, describe, expect, test } from "vitest";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { InventoryParts } from "../../services/observer-manager/src/domain/books/inventory-parts.ts";
import { signOfLife } from "../../services/observer-manager/src/domain/books/received-message.ts";
import { applyStateMessage } from "../../services/observer-manager/src/domain/books/state-message.ts";
import { putService, useBooks } from "../support/servers/books.ts";

const books = useBooks();
let store: PostgresBooksStore;
beforeAll(async () => {
  store = new PostgresBooksStore(books.dataSource);
});

const ALIVE: ServiceAlive = {
  kind: "ServiceAlive",
  at: 1_795_000_000_000,
  workerCount: 12,
  running: 7,
  memoryBytes: 1_234.5,
  eventLoopLagMs: 3.25,
  draining: false,
  slots: [{ pid: 11, purpose: "shared", runs: 7, memoryBytes: 40_000_000.5, lagMs: 3.25, startedAt: 1_795_000_000_000 }],
  slotDeaths: [
    {
      at: 1_795_000_000_000,
      pid: 10,
      purpose: "shared",
      end: "SIGKILL",
      runs: 7,
      reason: "unnamed",
      why: 'nobody can be named: 7 suspects; it said "\uFFFD \\u0000 {}"',
    },
  ],
  slotDeathsLately: 1,
  consuming: false,
  notConsuming: "no memory",
};

const batchOf = (serviceId: string, more: Partial<EventBatch> = {}): EventBatch => ({
  kind: "EventBatch",
  serviceId: serviceId as ServiceId,
  serviceName: "s",
  pool: "default",
  workerCount: 12,
  generation: 1,
  seq: 2,
  events: [ALIVE],
  ...more,
});

/** Everything but what tells one row, or one moment, from another. */
async function rowOf(id: string): Promise<Record<string, unknown>> {
  const rows = await books.dataSource.query<Record<string, unknown>[]>("SELECT * FROM services WHERE id = $1", [id]);
  const { id: _id, name: _name, started_at: _started, last_seen_at: _seen, changed_xid: _xid, ...rest } = rows[0] ?? {};
  return rest;
}

const note = (batch: EventBatch) => {
  const sign = signOfLife(batch);
  return sign === undefined ? Promise.resolve(false) : store.noteSignOfLife(sign);
};

describe("a sign of life that is written by itself", () => {
  test("leaves the row as the ledger's way does, marked as changed and seen now", async () => {
    const [quick, slow] = [await putService(books.dataSource), await putService(books.dataSource)];
    const before = await books.dataSource.query("SELECT changed_xid, last_seen_at FROM services WHERE id = $1", [quick]);
    expect(await note(batchOf(quick))).toBe(true);
    await store.inTransaction(async (tx) => {
      const loaded = await tx.loadFor([batchOf(slow)], new InventoryParts());
      applyStateMessage(loaded, batchOf(slow));
      await tx.write(loaded);
    });
    expect(await rowOf(quick)).toEqual(await rowOf(slow));
    expect(await rowOf(quick)).toMatchObject({ last_seq: "2", running: 7, worker_count: 12, memory_bytes: "1235" });
    const { slots, slotDeaths, slotDeathsLately } = ALIVE;
    expect(await rowOf(quick)).toMatchObject({ slots, slot_deaths: slotDeaths, slot_deaths_lately: slotDeathsLately });
    const after = await books.dataSource.query("SELECT changed_xid, last_seen_at FROM services WHERE id = $1", [quick]);
    expect(after[0].changed_xid).not.toBe(before[0].changed_xid);
    expect(after[0].last_seen_at.getTime()).toBeGreaterThan(before[0].last_seen_at.getTime());
  });

  test.each<[string, Record<string, unknown>, Partial<EventBatch>]>([
    ["of a service that is suspected", { state: "Suspect" }, {}],
    ["of one that was given up", { state: "Gone", ended_at: new Date(), end_reason: "silent" }, {}],
    ["of one that was told to drain", { drain: "asked" }, {}],
    ["of a connection that the books do not know yet", {}, { generation: 2 }],
    ["that was applied before", { last_seq: 2 }, {}],
    ["after a gap", {}, { seq: 3 }],
    ["that says that it drains", {}, { events: [{ ...ALIVE, draining: true }] }],
    ["with something beside it", {}, { events: [ALIVE, { kind: "ServiceDied", at: 1, reason: "it ends" }] }],
  ])("is left to the ledger %s", async (_what, columns, more) => {
    const id = await putService(books.dataSource, columns);
    const before = await rowOf(id);
    expect(await note(batchOf(id, more))).toBe(false);
    expect(await rowOf(id)).toEqual(before);
  });

  test("is left to the ledger where the books do not know the service", async () => {
    expect(await note(batchOf("019a0000-0000-7000-8000-000000000001"))).toBe(false);
  });
});
