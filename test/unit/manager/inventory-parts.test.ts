import { type EventBatch, type Inventory, newRunId, newServiceId } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import { InventoryParts } from "../../../services/observer-manager/src/domain/books/inventory-parts.ts";
import { Ledger } from "../../../services/observer-manager/src/operations/books/ledger.ts";
import { MemoryBooks } from "../../support/ports/memory-books.ts";

const part = (inventoryId: string, number: number, parts = 2): Inventory => {
  const run = { runId: newRunId(), observerId: newRunId(), messageId: newRunId(), revision: 1, attempt: 1 };
  return { kind: "Inventory", at: 1, inventoryId, part: number, parts, runs: [run] } as unknown as Inventory;
};

const serviceId = newServiceId();
const batchOf = (event: Inventory, seq = 1): EventBatch => ({
  ...{ kind: "EventBatch", serviceId, serviceName: "s", pool: "default", workerCount: 2, generation: 1 },
  seq,
  events: [event],
});

describe("the parts of inventories", () => {
  it("are one inventory when the last has come, also where a rolled back transaction brings that again", () => {
    const [parts, id] = [new InventoryParts(), newRunId()];
    const first = part(id, 1);
    expect(parts.collect(first)).toBeNull();
    parts.committed([batchOf(first)]);
    const last = part(id, 2);
    expect(parts.collect(last)?.size).toBe(2);
    expect(parts.collect(last)?.size).toBe(2);
  });

  it("are forgotten once what was made of them is committed", () => {
    const [parts, id] = [new InventoryParts(), newRunId()];
    const [first, last] = [part(id, 1), part(id, 2)];
    parts.collect(first);
    parts.collect(last);
    parts.committed([batchOf(first), batchOf(last)]);
    expect(parts.collect(last)).toBeNull();
  });

  it("are kept of those that still come, rather than of those that came to nothing", () => {
    const [parts, id] = [new InventoryParts(), newRunId()];
    parts.collect(part(id, 1, 3));
    for (let other = 0; other < 99; other += 1) parts.collect(part(newRunId(), 1));
    parts.collect(part(id, 2, 3));
    parts.collect(part(newRunId(), 1, 1));
    expect(parts.collect(part(id, 3, 3))?.size).toBe(3);
  });

  it("are forgotten by a ledger with its transaction, so that none is kept for its manager's life", async () => {
    const [books, id] = [new MemoryBooks(), newRunId()];
    const ledger = new Ledger(books, "a manager", { applied() {}, putAside() {}, sent() {} });
    let seq = 0;
    const say = (event: Inventory) => ledger.apply([batchOf(event, (seq += 1))]);
    const empty = (number: number) => ({ ...part(id, number), runs: [] });
    await say(empty(1));
    await say(empty(2));
    const asked = () => [...books.tables.commands.values()].filter(({ kind }) => kind === "report-inventory");
    expect(asked()).toEqual([]);
    // The same once more is half of one that nobody knows.
    await say(empty(2));
    expect(asked()).toHaveLength(1);
  });
});
