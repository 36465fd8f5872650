import { randomUUID } from "node:crypto";
import { CreateObserver, newObserverId, type ObserverId } from "@unacked/contracts";
import { beforeEach, describe, expect, test } from "vitest";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { PostgresCommandStore } from "../../services/observer-manager/src/adapters/postgres/commands/postgres-command-store.ts";
import { PostgresTypeDirectory } from "../../services/observer-manager/src/adapters/postgres/types/type-reads.ts";
import type { BooksStore } from "../../services/observer-manager/src/operations/books/books-store.ts";
import type { OwnStart, OwnStarts } from "../../services/observer-manager/src/operations/commands/own-starts.ts";
import { ObserverLifecycle } from "../../services/observer-manager/src/operations/observers/observer-lifecycle.ts";
import type { CreateOutcome } from "../../services/observer-manager/src/operations/observers/observer-tools.ts";
import { TypeCheck } from "../../services/observer-manager/src/operations/types/type-check.ts";
import { NO_OWN_STARTS } from "../support/ports/no-own-starts.ts";
import { keptLog, putObserver, putRunning, putService, SOMEBODY, useBooks } from "../support/servers/books.ts";

const books = useBooks("observers, services, commands");
let store: BooksStore;
let lifecycle: ObserverLifecycle;
/** Commits that told the dispatcher. */
let commits: number;

beforeEach(async () => {
  store = new PostgresBooksStore(books.dataSource);
  lifecycle = lifecycleOn(store);
});

function lifecycleOn(on: BooksStore, ownStarts = NO_OWN_STARTS): ObserverLifecycle {
  commits = 0;
  const types = new TypeCheck(new PostgresTypeDirectory(books.dataSource), () => true);
  const committed = () => (commits += 1);
  return new ObserverLifecycle({
    store: on,
    types,
    isReady: () => true,
    mayPause: () => true,
    mayUpdate: () => true,
    mayTell: () => true,
    maySchedule: () => true,
    committed,
    ownStarts,
    log: keptLog(),
  });
}

const request = (name: string, more: object = {}) => CreateObserver.parse({ name, type: "ticker", ...more });
const workers = (count: number) =>
  putService(books.dataSource, { worker_count: count, types: [{ type: "ticker", description: "", paramsSchema: {} }] });

async function create(requests: CreateObserver[], atomic = false, by = lifecycle): Promise<string[]> {
  const outcomes = (await by.createObservers(requests, { atomic }, SOMEBODY)) as CreateOutcome[];
  expect(outcomes).toHaveLength(requests.length);
  return outcomes.map((outcome) => (outcome.kind === "problem" ? outcome.code : outcome.kind));
}

const inBooks = async () => {
  const rows = await books.dataSource.query<{ name: string; commands: number }[]>(
    "SELECT name, (SELECT count(*)::int FROM commands c WHERE c.observer_id = o.id) AS commands FROM observers o ORDER BY name",
  );
  expect(rows.filter(({ commands }) => commands !== 1)).toEqual([]);
  return rows.map(({ name }) => name);
};

describe("the trace of the call", () => {
  const traces = () =>
    books.dataSource.query<{ name: string; trace: string | null }[]>(
      "SELECT name, trace_context AS trace FROM commands c JOIN observers o ON o.id = c.observer_id ORDER BY name",
    );
  const creating = (traceContext: string | undefined, requests: CreateObserver[]) =>
    lifecycle.createObservers(requests, { atomic: false }, { ...SOMEBODY, traceContext });

  test("stands with each start, its own where calls share a transaction, and none where there was none", async () => {
    await workers(10);
    const id = newObserverId();
    await Promise.all([
      creating("one", [request("a"), request("b", { id }), request("b", { id })]),
      creating(undefined, [request("c")]),
      creating("two", [request("d"), request("d")]),
    ]);
    expect(await traces()).toEqual([
      { name: "a", trace: "one" },
      { name: "b", trace: "one" },
      { name: "c", trace: null },
      { name: "d", trace: "two" },
    ]);
  });
});

describe("many at once", () => {
  test("are answered one by one, in order: the refused cost the others nothing", async () => {
    await workers(10);
    await putObserver(books.dataSource, { name: "taken" });
    await books.dataSource.query("INSERT INTO commands (kind, observer_id, revision) SELECT 'start', id, 1 FROM observers");
    const id = newObserverId();
    const answers = await create([
      request("a"),
      request("taken"),
      request("b", { id }),
      request("b", { id }),
      request("c", { id }),
      request("d", { type: "unheard-of" }),
      request("a"),
      request("e"),
    ]);
    expect(answers).toEqual([
      "created",
      "name-taken",
      "created",
      "exists",
      "id-taken",
      "unknown-type",
      "name-taken",
      "created",
    ]);
    expect(await inBooks()).toEqual(["a", "b", "e", "taken"]);
    expect(commits).toBe(1);
  });

  test("share the free workers in order, and one that cannot be created takes none", async () => {
    await workers(3);
    await putObserver(books.dataSource, { name: "taken", pool: "elsewhere" });
    const id = newObserverId();
    const requests = [
      request("taken"),
      request("a", { id }),
      request("a", { id }),
      request("a"),
      request("b"),
      request("waits", { whenFull: "queue" }),
      request("c"),
      request("waits-too", { whenFull: "queue" }),
    ];
    expect(await create(requests)).toEqual([
      "name-taken",
      "created",
      "exists",
      "name-taken",
      "created",
      "created",
      "no-free-worker",
      "created",
    ]);
    expect(await create([request("taken"), request("x")])).toEqual(["name-taken", "no-free-worker"]);
  });

  test("that are atomic are all created, or none, and only the guilty have a problem of their own", async () => {
    await workers(2);
    expect(await create([request("a"), request("b"), request("c")], true)).toEqual([
      "batch-refused",
      "batch-refused",
      "no-free-worker",
    ]);
    expect(await create([request("a"), request("a")], true)).toEqual(["batch-refused", "name-taken"]);
    expect(await create([request("a"), request("b", { type: "unheard-of" })], true)).toEqual([
      "batch-refused",
      "unknown-type",
    ]);
    expect(await inBooks()).toEqual([]);
    expect(commits).toBe(0);
    const id = randomUUID() as ObserverId;
    expect(await create([request("a", { id }), request("b")], true)).toEqual(["created", "created"]);
    expect(await create([request("a", { id })], true)).toEqual(["exists"]);
    expect(await inBooks()).toEqual(["a", "b"]);
  });
});

describe("pools and what their services know", () => {
  const service = (pool: string, types: string[], workers = 10) =>
    putService(books.dataSource, {
      pool,
      worker_count: workers,
      types: types.map((type) => ({ type, description: "", paramsSchema: {} })),
    });
  const refusals = async (requests: CreateObserver[]) =>
    ((await lifecycle.createObservers(requests, { atomic: false }, SOMEBODY)) as CreateOutcome[]).map((outcome) =>
      outcome.kind === "problem" ? { ...outcome, kind: undefined } : outcome.kind,
    );

  test("a type that only another pool has is told with that pool, and nothing is said of pools that do not have it", async () => {
    await service("default", ["ticker"]);
    await service("mine", ["orders", "shared"]);
    await service("yours", ["shared"]);
    const nowhere = 'No living service of the pool "default" knows the type "unheard-of", nor does one of another pool';
    expect(
      await refusals([
        request("a", { type: "orders" }),
        request("b", { type: "shared" }),
        request("c", { type: "unheard-of" }),
        request("d", { type: "orders", pool: "mine" }),
      ]),
    ).toEqual([
      {
        code: "unknown-type",
        knownTypes: ["ticker"],
        knownPools: ["mine"],
        detail: 'No living service of the pool "default" knows the type "orders"; known in pool mine: send pool "mine"',
      },
      {
        code: "unknown-type",
        knownTypes: ["ticker"],
        knownPools: ["mine", "yours"],
        detail:
          'No living service of the pool "default" knows the type "shared"; known in pools mine, yours: send pool "mine" or "yours"',
      },
      { code: "unknown-type", knownTypes: ["ticker"], knownPools: [], detail: nowhere },
      "created",
    ]);
  });

  test("a pool that nobody serves is told as such, with the pools there are; what may wait for it is accepted", async () => {
    const nobody = 'No living service works in the pool "defualt"';
    expect(await refusals([request("a", { pool: "defualt" })])).toEqual([
      { code: "pool-not-served", detail: `${nobody}, nor in any other`, knownPools: [] },
    ]);
    await service("default", ["ticker"]);
    await service("mine", []);
    expect(
      await refusals([request("a", { pool: "defualt" }), request("b", { pool: "defualt", whenFull: "queue" })]),
    ).toEqual([
      {
        code: "pool-not-served",
        knownPools: ["default", "mine"],
        detail: `${nobody}; pools that are served: default, mine`,
      },
      "created",
    ]);
  });

  test("only workers of services that know the type are free for it, and never more than the pool has", async () => {
    await service("default", ["ticker"], 1);
    await service("default", ["orders"], 3);
    const full = 'No service of the pool "default" that knows the type "ticker" has a free worker';
    expect(await refusals([request("a"), request("b"), request("c", { type: "orders" })])).toEqual([
      "created",
      { code: "no-free-worker", detail: full },
      "created",
    ]);
    expect(await refusals([request("d")])).toEqual([{ code: "no-free-worker", detail: full }]);
    await service("default", ["ticker", "orders"], 1);
    expect(await create(["d", "e"].map((name) => request(name)))).toEqual(["created", "no-free-worker"]);
    const orders = ["f", "g", "h"].map((name) => request(name, { type: "orders" }));
    expect(await create(orders)).toEqual(["created", "created", "no-free-worker"]);
  });
});

describe("a value that only the database finds wrong", () => {
  /** The schema of REST lets none through that PostgreSQL refuses; this one comes by another way. */
  const nul = (name: string) => ({ ...request(name), params: "\0" });

  test("is the request's own fault, and costs its neighbours nothing", async () => {
    await workers(100);
    expect(await create([nul("bad")])).toEqual(["invalid-body"]);
    const requests = Array.from({ length: 11 }, (_, i) => (i === 3 || i === 9 ? nul(`n-${i}`) : request(`n-${i}`)));
    const answers = await create(requests);
    expect(answers.filter((answer) => answer === "created")).toHaveLength(9);
    expect([answers[3], answers[9]]).toEqual(["invalid-body", "invalid-body"]);
    expect(await inBooks()).toHaveLength(9);
    expect(await create([request("p"), nul("q")], true)).toEqual(["invalid-body", "invalid-body"]);
    const together = await Promise.all([create([request("s-1")]), create([nul("s-2")]), create([request("s-3")])]);
    expect(together).toEqual([["created"], ["invalid-body"], ["created"]]);
  });

  test("costs its neighbours nothing either where the type is wrong, too: what is asked behind the refusal is not told in its place", async () => {
    await workers(100);
    const both = { ...nul("bad"), type: "unknown" };
    expect(await create([both])).toEqual(["invalid-body"]);
    // While the first is under way the others come, and share the next transaction.
    const [first, ...together] = [request("r-1"), both, request("r-2")].map((one) => create([one]));
    expect([await first, ...(await Promise.all(together))]).toEqual([["created"], ["invalid-body"], ["created"]]);
  });

  test("with the database gone while it was looked for, what was created is answered so", async () => {
    await workers(100);
    let transactions = 0;
    const breaking: BooksStore = {
      findMatching: (filter) => store.findMatching(filter),
      sizesOf: (refs) => store.sizesOf(refs),
      noteSignOfLife: (sign) => store.noteSignOfLife(sign),
      findUnknownRuns: (runIds) => store.findUnknownRuns(runIds),
      inTransaction: (work) =>
        ++transactions > 2 ? Promise.reject(new Error("the database went away")) : store.inTransaction(work),
    };
    const answers = await create([request("a"), nul("b")], false, lifecycleOn(breaking));
    expect(answers).toEqual(["created", "batch-interrupted"]);
    expect(await inBooks()).toEqual(["a"]);
  });
});

test("what was committed is accepted, though the database goes away right after", async () => {
  const service = await workers(10);
  const id = (await putRunning(books.dataSource, { current_service_id: service })) as ObserverId;
  let committed = false;
  const breaking: BooksStore = {
    findMatching: (filter) => store.findMatching(filter),
    sizesOf: (refs) => store.sizesOf(refs),
    noteSignOfLife: (sign) => store.noteSignOfLife(sign),
    findUnknownRuns: (runIds) => store.findUnknownRuns(runIds),
    async inTransaction(work) {
      if (committed) throw new Error("the database went away");
      const result = await store.inTransaction(work);
      committed = true;
      return result;
    },
  };
  const outcome = await lifecycleOn(breaking).deleteObserver({ kind: "id", id }, { force: false }, SOMEBODY);
  expect(outcome).toMatchObject({ kind: "accepted", observer: { id, status: "OnDeleting", service: { id: service } } });
});

test("what is repeated is answered at once, though somebody is just changing that observer", async () => {
  await workers(10);
  const id = newObserverId();
  expect(await create([request("a", { id })])).toEqual(["created"]);
  const other = books.dataSource.createQueryRunner();
  await other.startTransaction();
  await other.query("UPDATE observers SET attempts = 7 WHERE id = $1", [id]);
  expect(await create([request("a", { id })])).toEqual(["exists"]);
  await other.rollbackTransaction();
  await other.release();
});

describe("starts that are sent by the manager that creates them", () => {
  const CLAIM_ID = randomUUID();
  beforeEach(() => workers(10));

  const commands = () =>
    books.dataSource.query(
      `SELECT o.name, claim_id AS "claimId", claimed_at IS NOT NULL AS "isClaimed", round(extract(epoch FROM due_at - c.created_at))::int AS "dueInS"
       FROM commands c JOIN observers o ON o.id = c.observer_id ORDER BY o.name`,
    );

  function sending(claim: string | undefined) {
    const sent: OwnStart[] = [];
    const asked: number[] = [];
    const ownStarts: OwnStarts = {
      claim: (count) => (asked.push(count), claim),
      send: (starts) => void sent.push(...starts),
    };
    return { sent, asked, by: lifecycleOn(store, ownStarts) };
  }

  test("stand under its claim from the beginning, and are given to it with all that they say", async () => {
    const { sent, asked, by } = sending(CLAIM_ID);
    expect(await create([request("a", { params: { speed: 1 } })], false, by)).toEqual(["created"]);
    expect(await create([request("a"), request("b")], false, by)).toEqual(["name-taken", "created"]);
    expect([asked, commits]).toEqual([[1, 2], 0]);
    const claimed = { claimId: CLAIM_ID, isClaimed: true, dueInS: 10 };
    expect(await commands()).toEqual([
      { name: "a", ...claimed },
      { name: "b", ...claimed },
    ]);
    const ids = await books.dataSource.query("SELECT id::text FROM commands ORDER BY id");
    expect(sent.map(({ id }) => ({ id }))).toEqual(ids);
    const read = await new PostgresCommandStore(books.dataSource).claimDue(10, 1_000, { firstMs: 1, maxMs: 1 });
    expect(read.due).toEqual([]);
    await books.dataSource.query("UPDATE commands SET due_at = now()");
    // As they would be read from the books, in a minute, by another manager.
    const later = await new PostgresCommandStore(books.dataSource).claimDue(10, 1_000, { firstMs: 1, maxMs: 1 });
    expect(later.due.map((due) => due.kind === "start" && due.start)).toEqual(sent.map(({ start }) => start));
  });

  test("are due where nothing can be sent, and where the time has not come there is none", async () => {
    const { sent, by } = sending(undefined);
    expect(await create([request("a")], false, by)).toEqual(["created"]);
    expect([sent, commits]).toEqual([[], 1]);
    expect(await commands()).toEqual([{ name: "a", claimId: null, isClaimed: false, dueInS: 0 }]);
    const later = sending(CLAIM_ID);
    const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
    expect(await create([request("b", { startAt: inAnHour })], false, later.by)).toEqual(["created"]);
    expect(later.sent).toEqual([]);
  });

  test("carry the trace of their call", async () => {
    const { sent, by } = sending(CLAIM_ID);
    const traceContext = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const outcomes = await by.createObservers([request("a")], { atomic: false }, { ...SOMEBODY, traceContext });
    expect(outcomes).toMatchObject([{ kind: "created" }]);
    expect(sent).toMatchObject([{ traceContext }]);
    expect(await commands()).toMatchObject([{ claimId: CLAIM_ID }]);
  });

  test("of a batch that is undone are not sent", async () => {
    const { sent, by } = sending(CLAIM_ID);
    await create([request("a")], false, by);
    sent.length = 0;
    expect(await create([request("b"), request("a")], true, by)).toEqual(["batch-refused", "name-taken"]);
    expect([sent, await inBooks()]).toEqual([[], ["a"]]);
  });
});
