import { type EventBatch, newServiceId, type ObserverId, type ServiceEvent, type ServiceId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import type { BooksTransaction } from "../../services/observer-manager/src/operations/books/books-store.ts";
import { Ledger } from "../../services/observer-manager/src/operations/books/ledger.ts";
import { runOf } from "../support/messages/told-run.ts";
import { putObserver, useBooks } from "../support/servers/books.ts";

/* What many services tell of their runs is applied by two transactions at once (domain/books/side-by-side.ts). */

const SERVICES = 12;
const EACH = 100;
const NOBODY = { applied: () => undefined, sent: () => undefined, putAside: () => undefined };
const books = useBooks("observers, runs, services, commands, errors, run_figures");

/** The real books, which say how many transactions are open at once, and can be told to roll one back. */
class WatchedBooks extends PostgresBooksStore {
  open = 0;
  most = 0;
  begun = 0;
  /** The number of the transaction that fails when all of it is written, before its commit. */
  lost: number | undefined;

  override async inTransaction<T>(work: (tx: BooksTransaction) => Promise<T>): Promise<T> {
    this.begun += 1;
    const isLost = this.begun === this.lost;
    this.open += 1;
    this.most = Math.max(this.most, this.open);
    try {
      return await super.inTransaction(async (tx) => {
        const result = await work(tx);
        if (isLost) throw new Error("the connection is lost");
        return result;
      });
    } finally {
      this.open -= 1;
    }
  }
}

interface Told {
  serviceId: ServiceId;
  ids: ObserverId[];
}

async function putAll(): Promise<Told[]> {
  const services = Array.from({ length: SERVICES }, () => newServiceId());
  return Promise.all(
    services.map(async (serviceId) => {
      const ids = await Promise.all(Array.from({ length: EACH }, () => putObserver(books.dataSource)));
      return { serviceId, ids: ids as ObserverId[] };
    }),
  );
}

const batch = (serviceId: ServiceId, seq: number, events: ServiceEvent[]): EventBatch => ({
  ...({ kind: "EventBatch", serviceName: serviceId, pool: "default", workerCount: EACH, generation: 1 } as const),
  ...{ serviceId, seq, events },
});
const startsOf = (told: Told[]) =>
  told.map(({ serviceId, ids }) =>
    batch(
      serviceId,
      1,
      ids.map((id) => ({ kind: "RunStarted", ...runOf(id), attempt: 0 })),
    ),
  );

async function inBooks() {
  const [row] = await books.dataSource.query<Record<string, unknown>[]>(`
    SELECT (SELECT count(*)::int FROM observers WHERE status = 'Processing') AS processing,
           (SELECT count(*)::int FROM runs) AS runs,
           (SELECT sum(starts)::int FROM run_figures) AS starts,
           (SELECT count(*)::int FROM services WHERE last_seq = 1) AS services`);
  return row;
}
const ALL = { processing: SERVICES * EACH, runs: SERVICES * EACH, starts: SERVICES * EACH, services: SERVICES };

test("what twelve services tell stands in the books by two transactions that were open at once", async () => {
  const store = new WatchedBooks(books.dataSource);
  await new Ledger(store, "a manager", NOBODY).apply(startsOf(await putAll()));
  expect({ most: store.most, begun: store.begun }).toEqual({ most: 2, begun: 2 });
  expect(await inBooks()).toEqual(ALL);
});

test.each([1, 2])(
  "when transaction %d of the two is lost, all can be given again: nothing is missing, nothing counts twice",
  async (lost) => {
    const store = new WatchedBooks(books.dataSource);
    const ledger = new Ledger(store, "a manager", NOBODY);
    const messages = startsOf(await putAll());
    store.lost = lost;
    await expect(ledger.apply(messages)).rejects.toThrow("the connection is lost");
    expect(store.open, "none is left behind").toBe(0);
    expect(await inBooks()).toMatchObject({ services: SERVICES / 2, processing: (SERVICES * EACH) / 2 });
    await ledger.apply(messages);
    expect(await inBooks()).toEqual(ALL);
  },
);

test("what the database refuses is left out alone, in whichever of the two it is", async () => {
  const told = await putAll();
  const messages = startsOf(told);
  const bad = [messages[0], messages[SERVICES - 1]].map((message) => message?.events[0]);
  for (const event of bad) if (event?.kind === "RunStarted") Object.assign(event, { revision: 3_000_000_000 });
  const store = new WatchedBooks(books.dataSource);
  await new Ledger(store, "a manager", NOBODY).apply(messages);
  expect(store.most).toBe(2);
  expect(await inBooks()).toEqual({ ...ALL, processing: ALL.processing - 2, runs: ALL.runs - 2, starts: ALL.starts - 2 });
  expect(await books.dataSource.query("SELECT reason, queue FROM errors")).toEqual(
    Array.from({ length: 2 }, () => ({ reason: "refused-by-database", queue: "unacked.state" })),
  );
});
