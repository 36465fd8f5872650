import { CreateObserver } from "@unacked/contracts";
import { beforeEach, expect, test, vi } from "vitest";
import type { Actor } from "../../../services/observer-manager/src/domain/access/identity.ts";
import { WHOLE } from "../../../services/observer-manager/src/domain/access/task-share.ts";
import type { BooksStore, BooksTransaction } from "../../../services/observer-manager/src/operations/books/books-store.ts";
import { Creation } from "../../../services/observer-manager/src/operations/observers/creation.ts";
import { TypeCheck } from "../../../services/observer-manager/src/operations/types/type-check.ts";
import { MemoryBooks } from "../../support/ports/memory-books.ts";

const BY: Actor = {
  name: "tester",
  role: "operator",
  authentication: "anonymous",
  address: "",
  requestId: "r-1",
  expiresAtMs: null,
  share: WHOLE,
  traceContext: undefined,
};

let books: MemoryBooks;
beforeEach(() => (books = new MemoryBooks()));

const creationIn = (store: BooksStore) =>
  new Creation(store, new TypeCheck({ liveTypes: vi.fn(), livePools: vi.fn() }, () => true), vi.fn(), {
    claim: () => undefined,
    send: vi.fn(),
  });
const request = (name: string) => CreateObserver.parse({ name, type: "t", whenFull: "queue" });
const kindOf = (outcome: { kind: string; code?: string } | undefined) => outcome?.code ?? outcome?.kind;

const withEach = (change: (tx: BooksTransaction) => BooksTransaction): BooksStore =>
  Object.assign(books, { inTransaction: inEach(books.inTransaction.bind(books), change) });
const inEach =
  (begin: BooksStore["inTransaction"], change: (tx: BooksTransaction) => BooksTransaction): BooksStore["inTransaction"] =>
  (work) =>
    begin((tx) => work(change(tx)));

/** By a service of the type that has a free worker. */
const SERVED = {
  freeWorkers: async () => ({ ofPool: 1, ofType: new Map([["t", 1]]) }),
  types: {
    liveTypes: async () => ({ services: 1, types: [{ type: "t", paramsSchema: {} } as never], withoutAdmission: [] }),
    livePools: async () => [],
  },
};

/** What is asked of a transaction, in order; nothing is answered before the audit's entry has been asked for. */
function answeredLate(tx: BooksTransaction, asked: string[]): BooksTransaction {
  let resolve = (): void => undefined;
  const recorded = new Promise<void>((done) => (resolve = done));
  return new Proxy(tx, {
    get(target, name: keyof BooksTransaction) {
      const value = target[name];
      if (typeof value !== "function") return value;
      return async (...given: unknown[]) => {
        asked.push(name);
        if (name === "recordActions") resolve();
        await recorded;
        return (value as (...all: unknown[]) => unknown).apply(target, given);
      };
    },
  });
}

test("what is looked at, the observer and who did it leave together: no answer is waited for in between", async () => {
  const asked: string[] = [];
  const creation = creationIn(withEach((tx) => answeredLate(Object.assign(tx, SERVED), asked)));
  const [outcome] = await creation.create([{ ...request("one"), whenFull: "reject" }], BY);
  expect(outcome).toMatchObject({ kind: "created", observer: { name: "one" } });
  expect(asked).toEqual(["lockPool", "freeWorkers", "insertObservers", "recordActions"]);
  expect(books.tables.actions).toMatchObject([{ count: 1, targets: [{ kind: "observer", name: "one" }] }]);
});

test("where one cannot be created, what was written as if it could is undone, and the others are created once", async () => {
  books.put({ id: "00000000-0000-4000-8000-000000000001" as never, name: "taken", status: "Processing" });
  const outcomes = await creationIn(books).create([request("one"), request("taken"), request("two")], BY);
  expect(outcomes.map(kindOf)).toEqual(["created", "name-taken", "created"]);
  expect([...books.tables.observers.values()].map(({ name }) => name)).toEqual(["taken", "one", "two"]);
  expect(books.tables.commands.size).toBe(2);
  expect(books.tables.actions).toMatchObject([{ count: 2 }]);
});

test("where the workers are too few for all, each that has one is created", async () => {
  const creation = creationIn(withEach((tx) => Object.assign(tx, SERVED)));
  const wanted = ["one", "two"].map((name) => ({ ...request(name), whenFull: "reject" as const }));
  expect((await creation.create(wanted, BY)).map(kindOf)).toEqual(["created", "no-free-worker"]);
  expect(books.tables.observers.size).toBe(1);
});

test("who sends what cannot be created costs two transactions once, and then one each", async () => {
  const inTransaction = vi.spyOn(books, "inTransaction");
  const creation = creationIn(books);
  const nowhere = { ...request("one"), whenFull: "reject" as const };
  const transactionsOf = async (one: CreateObserver) => {
    inTransaction.mockClear();
    const [outcome] = await creation.create([one], BY);
    return [kindOf(outcome), inTransaction.mock.calls.length];
  };
  expect(await transactionsOf(nowhere)).toEqual(["pool-not-served", 2]);
  for (let i = 0; i < 20; i += 1) expect(await transactionsOf(nowhere)).toEqual(["pool-not-served", 1]);
  expect(await transactionsOf(nowhere)).toEqual(["pool-not-served", 2]);
});

test("what starts at a time is looked at first: whether that has come is for the database's clock to say", async () => {
  const later = vi.fn(async () => new Set<string>());
  const creation = creationIn(withEach((tx) => Object.assign(tx, { laterThanNow: later })));
  const [outcome] = await creation.create([{ ...request("one"), startAt: "2027-01-01T00:00:00Z" }], BY);
  expect(kindOf(outcome)).toBe("created");
  expect(later).toHaveBeenCalledOnce();
});
