import { randomUUID } from "node:crypto";
import type { TimerId, TimerStatusName } from "@unacked/contracts";
import pg from "pg";
import type { QueryRunner } from "typeorm";
import { expect, it, onTestFinished } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { PostgresTimerStore } from "../../services/observer-manager/src/adapters/postgres/timers/postgres-timer-store.ts";
import { countTimers, unheardTimers } from "../../services/observer-manager/src/adapters/postgres/timers/timer-counts.ts";
import { PostgresTimerFiringStore } from "../../services/observer-manager/src/adapters/postgres/timers/timer-firing-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import type {
  DueTimer,
  FiringOutcome,
  NewTimer,
  Tries,
} from "../../services/observer-manager/src/operations/timers/timer-store.ts";
import { tcpProxy } from "../support/broker/tcp-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, SOMEBODY, shiftClock, useBooks } from "../support/servers/books.ts";
import { untilWait } from "../support/servers/lock-waits.ts";

const books = useBooks("timers, ended_timers, timer_claims, timer_owners, audit");
const stores = () => ({
  store: new PostgresTimerStore(books.dataSource),
  firing: new PostgresTimerFiringStore(books.dataSource),
});
const PAST = "2026-01-01T00:00:00.000Z";
const LATER = "2100-01-01T00:00:00.000Z";
const create = newAction("timer.create", SOMEBODY);
const cancelled = () => newAction("timer.cancel", SOMEBODY);
const timer = (more: Partial<NewTimer> = {}): NewTimer => ({
  id: randomUUID() as TimerId,
  name: "n",
  payload: { a: 1 },
  at: PAST,
  expiresAt: undefined,
  ...more,
});
const putsOf = (timers: NewTimer[]) => timers.map((one) => ({ timer: one, action: create }));
const cancel = async (id: TimerId) => (await stores().store.cancel([{ id, action: cancelled() }]))[0];
const many = (count: number, more: Partial<NewTimer> = {}) => Array.from({ length: count }, () => timer(more));
const putOne = async (one: NewTimer) => (await stores().store.put(putsOf([one])))[0];
const claimAll = (owner: string, claimId: string = randomUUID(), tries?: Tries) =>
  stores()
    .firing.claim({ owner, claimId }, 1_000, tries)
    .then(({ due }) => ({ due, claimId }));
const settle = async (due: readonly DueTimer[], claimId: string, outcome: FiringOutcome) => {
  const { firing } = stores();
  const ids = due.map(({ id }) => id);
  if (outcome !== "fired") await firing.giveBack(claimId, outcome, ids);
  await firing.finish([{ claimId, fired: outcome === "fired" ? ids : [] }]);
};

const deadlocks = async () => {
  const [row] = await books.dataSource.query(
    "SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = current_database()",
  );
  return row.count;
};

it("The same content is answered with the timer, other content replaces it while it waits, and once it is over its id is spent", async () => {
  const one = timer({ at: LATER, payload: { a: 1, b: [2] } });
  expect(await putOne(one)).toMatchObject({ kind: "created", timer: { id: one.id, status: "Waiting", at: LATER } });
  expect(await putOne({ ...one, payload: { b: [2], a: 1 } })).toMatchObject({ kind: "exists" });
  expect(await putOne({ ...one, expiresAt: "2100-02-01T00:00:00Z" })).toMatchObject({ kind: "replaced" });
  const moved = { ...one, at: "2100-01-02T00:00:00Z", name: "other" };
  expect(await putOne(moved)).toMatchObject({
    kind: "replaced",
    timer: { at: "2100-01-02T00:00:00.000Z", name: "other", expiresAt: "2100-01-03T00:00:00.000Z" },
  });
  expect(await putOne(moved)).toMatchObject({ kind: "exists" });
  expect(await cancel(one.id)).toMatchObject({ kind: "cancelled", timer: { status: "Cancelled" } });
  expect(await cancel(one.id)).toMatchObject({ kind: "found", timer: { status: "Cancelled" } });
  expect(await putOne(moved)).toEqual({ kind: "over" });
  expect(await books.dataSource.query("SELECT id FROM timers")).toEqual([]);
  const audit = await books.dataSource.query("SELECT deed, sum(count)::int AS count FROM audit GROUP BY 1 ORDER BY 1");
  expect(audit).toEqual([
    { deed: "timer.cancel", count: 1 },
    { deed: "timer.create", count: 3 },
  ]);
});

it("One that is due so long from now is counted by PostgreSQL's clock, and set again it counts anew", async () => {
  const { id, name, payload } = timer();
  const soon = { id, name, payload, inMs: 90_000, expiresAt: undefined };
  const nowMs = async () =>
    (await books.dataSource.query("SELECT (extract(epoch FROM now()) * 1000)::float8 AS ms"))[0].ms as number;
  const before = await nowMs();
  const made = await putOne(soon);
  expect(made).toMatchObject({ kind: "created", timer: { status: "Waiting" } });
  const { at = "", expiresAt = "" } = made !== undefined && "timer" in made ? made.timer : {};
  expect(Date.parse(at)).toBeGreaterThanOrEqual(Math.floor(before) + 90_000);
  expect(Date.parse(at)).toBeLessThanOrEqual((await nowMs()) + 90_000);
  expect(Date.parse(expiresAt) - Date.parse(at)).toBe(86_400_000);
  expect(await putOne({ ...soon, inMs: 0 })).toMatchObject({ kind: "replaced" });
  const { due } = await claimAll(randomUUID());
  expect(due.map((one) => one.id)).toEqual([id]);
});

it("Whether one expires before it is due is told by PostgreSQL's clock, and by no manager's", async () => {
  const { store } = stores();
  await shiftClock(books, 3_600);
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  const soon = (expiresAt: string) => timer({ at: undefined, inMs: 60_000, expiresAt });
  const [early, other, late] = [soon(inMinutes(30)), timer({ at: LATER }), soon(inMinutes(90))];
  expect(await store.put(putsOf([early, other, late]))).toMatchObject([
    { kind: "in-vain" },
    { kind: "created", timer: { id: other.id } },
    { kind: "created", timer: { id: late.id } },
  ]);
  expect(await store.find(early.id)).toBeUndefined();
  expect(await store.put(putsOf([{ ...late, expiresAt: inMinutes(30) }]))).toEqual([{ kind: "in-vain" }]);
  expect(await store.find(late.id)).toMatchObject({ status: "Waiting", expiresAt: late.expiresAt });
  await shiftClock(books, -3_600);
  expect((await store.put(putsOf([{ ...early, inMs: 3_600_000 }])))[0]).toMatchObject({ kind: "created" });
});

it("Set again when it would expire first, one that is being fired, or has been, is answered as it was; one that waits is refused", async () => {
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  const soon = () => timer({ at: undefined, inMs: 60_000, expiresAt: inMinutes(3) });
  const [fired, firing, unsure, waits] = [soon(), soon(), soon(), soon()];
  const { store } = stores();
  expect(await store.put(putsOf([fired]))).toMatchObject([{ kind: "created" }]);
  await shiftClock(books, 150);
  const first = await claimAll(randomUUID());
  await settle(first.due, first.claimId, "fired");
  await shiftClock(books, 0);
  await store.put(putsOf([unsure]));
  await shiftClock(books, 150);
  const second = await claimAll(randomUUID());
  await settle(second.due, second.claimId, "refused");
  await shiftClock(books, 0);
  await store.put(putsOf([firing]));
  await shiftClock(books, 150);
  expect((await claimAll(randomUUID())).due.map(({ id }) => id)).toEqual([firing.id]);
  await shiftClock(books, 0);
  await store.put(putsOf([waits]));
  await shiftClock(books, 150);
  const other = { ...firing, payload: "other" };
  const fresh = timer({ at: LATER });
  expect(await store.put(putsOf([fired, firing, fresh, unsure, waits]))).toMatchObject([
    { kind: "over" },
    { kind: "exists", timer: { id: firing.id, status: "Firing" } },
    { kind: "created", timer: { id: fresh.id } },
    { kind: "exists", timer: { id: unsure.id, status: "Firing" } },
    { kind: "in-vain" },
  ]);
  expect(await store.put(putsOf([other]))).toEqual([{ kind: "over" }]);
  expect(await store.put([{ timer: firing, action: create, within: ["mine."] }])).toEqual([{ kind: "taken" }]);
  expect(await store.find(waits.id)).toMatchObject({ status: "Waiting", expiresAt: waits.expiresAt });
});

it("What is being fired is answered to its own content, and to no other", async () => {
  const one = timer();
  await putOne(one);
  await claimAll(randomUUID());
  expect(await putOne(one)).toMatchObject({ kind: "exists", timer: { status: "Firing" } });
  expect(await putOne({ ...one, at: LATER })).toEqual({ kind: "over" });
});

it("Whose name a timer is not of is told that its id is taken, and not what became of it", async () => {
  const one = timer();
  await putOne(one);
  const asked = { timer: { ...one, name: "mine.x" }, action: create, within: ["mine."] };
  const ask = async () => (await stores().store.put([asked]))[0];
  expect(await ask()).toEqual({ kind: "taken" });
  const { due, claimId } = await claimAll(randomUUID());
  expect(await ask()).toEqual({ kind: "taken" });
  await settle(due, claimId, "fired");
  expect(await ask()).toEqual({ kind: "taken" });
});

it.each([false, true])(
  "What is due so long from now is answered as it was while it is being fired; given back: %s",
  async (isGivenBack) => {
    const { id, name, payload } = timer();
    const soon = { id, name, payload, inMs: 0, expiresAt: undefined };
    await putOne(soon);
    const { due, claimId } = await claimAll(randomUUID());
    if (isGivenBack) await settle(due, claimId, "refused");
    expect(await putOne(soon)).toMatchObject({ kind: "exists", timer: { status: "Firing" } });
    expect(await putOne({ ...soon, payload: "other" })).toEqual({ kind: "over" });
  },
);

it.each(["set", "cancelled"] as const)("Whoever locks timers the other way round costs none that is %s", async (how) => {
  const { store } = stores();
  const three = many(3, { at: LATER }).sort((a, b) => (a.id < b.id ? -1 : 1));
  const [first, second, last] = three.map(({ id }) => id);
  await store.put(putsOf(three));
  const before = await deadlocks();
  const [between, other] = [books.dataSource.createQueryRunner(), books.dataSource.createQueryRunner()];
  const lock = (who: QueryRunner, id?: string) => who.query("SELECT FROM timers WHERE id = $1 FOR UPDATE", [id]);
  for (const who of [between, other]) await who.startTransaction();
  await lock(between, second);
  await lock(other, last);
  const outcomes =
    how === "set"
      ? store.put(putsOf(three.map((one) => ({ ...one, payload: "new" }))))
      : store.cancel(three.map(({ id }) => ({ id, action: cancelled() })));
  await untilWait(books.dataSource);
  await other.query("SET LOCAL deadlock_timeout = '10min'"); // it is the store that finds out, and is ended
  const locked = lock(other, first);
  await untilWait(books.dataSource, 2);
  await between.commitTransaction();
  await locked;
  await other.commitTransaction();
  for (const who of [between, other]) await who.release();
  const kind = how === "set" ? "replaced" : "cancelled";
  expect(await outcomes).toMatchObject([{ kind }, { kind }, { kind }]);
  await eventually(async () => expect(await deadlocks()).toBeGreaterThan(before));
});

it("Twenty who set the same timers at once create each once", async () => {
  const { store } = stores();
  const timers = many(50, { at: LATER });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => store.put(putsOf(i % 2 === 0 ? timers : timers.toReversed()))),
  );
  const kinds = answers.flat().map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "created")).toHaveLength(50);
  expect(kinds.filter((kind) => kind === "exists")).toHaveLength(950);
});

it("Two managers that claim at once share what is due, and neither has what the other has", async () => {
  const { store, firing } = stores();
  await store.put(putsOf([...many(2_000), ...many(10, { at: LATER })]));
  const claimed: string[] = [];
  const claimer = async () => {
    const owner = randomUUID();
    for (;;) {
      const { due } = await firing.claim({ owner, claimId: randomUUID() }, 50);
      if (due.length === 0) return;
      claimed.push(...due.map(({ id }) => id));
    }
  };
  await Promise.all([claimer(), claimer()]);
  expect(new Set(claimed).size).toBe(2_000);
  expect(claimed).toHaveLength(2_000);
  expect(await firing.nextDueInMs()).toBeGreaterThan(1e9);
});

it("While cancels race claims, what was told to be cancelled is never claimed, and all else is", async () => {
  const { store, firing } = stores();
  const timers = many(400);
  await store.put(putsOf(timers));
  const other = await createDataSource({ databaseUrl: books.databaseUrl, poolSize: 5, log: keptLog() }).initialize();
  const elsewhere = new PostgresTimerStore(other);
  const claimed = new Set<string>();
  const claimer = async () => {
    const owner = randomUUID();
    for (;;) {
      const claimId = randomUUID();
      const { due } = await firing.claim({ owner, claimId }, 7);
      if (due.length === 0) return;
      for (const { id } of due) claimed.add(id);
      await settle(due, claimId, "fired");
    }
  };
  const never = new Set<string>();
  const cancelEach = async (some: NewTimer[]) => {
    for (const { id } of some) {
      const [outcome] = await elsewhere.cancel([{ id, action: cancelled() }]);
      if (outcome?.kind === "cancelled") never.add(id);
      else expect(outcome).toMatchObject({ kind: "found", timer: { status: expect.stringMatching(/^(Firing|Fired)$/) } });
    }
  };
  const backwards = timers.toReversed(); // from the end that claims come to last
  await Promise.all([cancelEach(backwards.slice(0, 130)), cancelEach(timers.slice(0, 130)), claimer(), claimer()]);
  await other.destroy();
  console.log(`${never.size} cancelled, ${claimed.size} fired`);
  expect([...never].filter((id) => claimed.has(id))).toEqual([]);
  expect(never.size + claimed.size).toBe(400);
  const ended = await books.dataSource.query(
    "SELECT status, count(*)::int AS count FROM ended_timers GROUP BY 1 ORDER BY 1",
  );
  expect(ended.filter(({ count }: { count: number }) => count > 0)).toEqual(
    [
      { status: "Cancelled", count: never.size },
      { status: "Fired", count: claimed.size },
    ].filter(({ count }) => count > 0),
  );
});

it("What was returned waits, is tried again later and later, can be cancelled, and expires at its time", async () => {
  const { store, firing } = stores();
  const [one, brief] = [timer(), timer({ expiresAt: "2026-01-01T00:00:01Z" })];
  await store.put(putsOf([one, brief]));
  const first = await claimAll(randomUUID());
  expect(first.due.map(({ id }) => id)).toEqual([one.id]); // the other one expired before anybody could fire it
  expect(await store.find(brief.id)).toMatchObject({ status: "Expired" });
  await settle(first.due, first.claimId, "returned");
  const waiting = await store.find(one.id);
  expect(waiting).toMatchObject({ status: "Waiting", returns: 1, lastProblem: "returned" });
  expect(await firing.nextDueInMs("again")).toBeGreaterThan(0);
  await books.dataSource.query("UPDATE timers SET next_at = now()");
  expect((await claimAll(randomUUID())).due).toEqual([]); // it holds up none that was never returned
  const second = await claimAll(randomUUID(), randomUUID(), "again");
  await settle(second.due, second.claimId, "returned");
  expect(await firing.nextDueInMs("again")).toBeGreaterThan(1_000);
  expect(await cancel(one.id)).toMatchObject({ kind: "cancelled" });
});

it.each([
  ["too-late", "Firing", "unknown"],
  ["not-tried", "Waiting", "refused"],
] as const)(
  "What is %s is tried again later and later, behind those of others, and told of",
  async (how, status, lastProblem) => {
    const { store, firing } = stores();
    const stuck = timer();
    await store.put(putsOf([stuck, timer({ at: "2026-01-02T00:00:00Z", name: "other" })]));
    const claimOne = async (tries?: Tries) => {
      const claimId = randomUUID();
      const { due } = await firing.claim({ owner: randomUUID(), claimId }, 1, tries);
      return { due, claimId };
    };
    const first = await claimOne();
    await settle(first.due, first.claimId, how);
    expect(first.due.map(({ id }) => id)).toEqual([stuck.id]);
    expect((await claimOne()).due).toMatchObject([{ name: "other" }]);
    expect(await firing.nextDueInMs("again")).toBeGreaterThan(0);
    expect(await store.find(stuck.id)).toMatchObject({ status, returns: 1, lastProblem });
    expect(await unheardTimers(books.dataSource)).toMatchObject([{ name: stuck.name, isRefused: true }]);
    await books.dataSource.query("UPDATE timers SET next_at = due_at");
    const second = await claimOne("again");
    await settle(second.due, second.claimId, how);
    expect(await firing.nextDueInMs("again")).toBeGreaterThan(1_000);
  },
);

it.each(["returned", "refused", "too-late", "unknown", "not-sent", "not-tried"] as const)(
  "Where PostgreSQL's clock was set back what is %s is tried again soon, and what is due later no sooner",
  async (how) => {
    const { store, firing } = stores();
    const later = timer({ at: new Date(Date.now() + 3 * 3_600_000).toISOString() });
    const one = timer();
    await store.put(putsOf([one, later]));
    await shiftClock(books, 6 * 3_600);
    const { due, claimId } = await claimAll(randomUUID());
    expect(due).toHaveLength(2);
    await settle(due, claimId, how);
    await shiftClock(books, 0);
    const tries = how === "unknown" || how === "not-sent" ? "first" : "again";
    expect(await firing.nextDueInMs(tries)).toBeLessThanOrEqual(1_000);
    expect((await claimAll(randomUUID(), randomUUID(), tries)).due.map(({ id }) => id)).toEqual([one.id]);
  },
);

it("What may have been heard is unsure: tried again, and cancelled never more, also when the next try finds nobody", async () => {
  const { store } = stores();
  const one = timer();
  await store.put(putsOf([one]));
  for (const outcome of ["refused", "returned", "unknown", "not-sent"] as const) {
    await books.dataSource.query("UPDATE timers SET next_at = due_at");
    const { due, claimId } = await claimAll(randomUUID(), randomUUID(), outcome === "refused" ? "first" : "again");
    expect(due).toHaveLength(1);
    await settle(due, claimId, outcome);
    expect(await cancel(one.id)).toMatchObject({ kind: "found", timer: { status: "Firing" } });
  }
  const { due, claimId } = await claimAll(randomUUID(), randomUUID(), "again");
  await settle(due, claimId, "fired");
  expect(await store.find(one.id)).toMatchObject({ status: "Fired", returns: 2, lastProblem: "unknown" });
});

it("What was not sent is as it was before", async () => {
  const { store } = stores();
  const one = timer();
  await store.put(putsOf([one]));
  const { due, claimId } = await claimAll(randomUUID());
  await settle(due, claimId, "not-sent");
  expect(await store.find(one.id)).toMatchObject({ status: "Waiting", returns: 0, lastProblem: null });
  expect(await cancel(one.id)).toMatchObject({ kind: "cancelled" });
});

it("Who holds its lease keeps what it fires; past it others take over, and what the first then says holds only where it fired", async () => {
  const { store, firing } = stores();
  const [a, b] = [timer(), timer({ at: "2026-01-02T00:00:00Z" })];
  await store.put(putsOf([a, b]));
  const frozen = randomUUID();
  const first = await claimAll(frozen);
  expect(await firing.lapsed()).toEqual([]);
  expect(await firing.takeOver([frozen])).toBe(0);
  await books.dataSource.query("UPDATE timer_owners SET lease_until = now() - interval '1 second'");
  expect((await firing.lapsed()).map(({ owner }) => owner)).toEqual([frozen]);
  expect(await firing.takeOver([frozen])).toBe(2);
  const second = await claimAll(randomUUID());
  expect(second.due).toHaveLength(2);
  // The frozen one goes on.
  await firing.giveBack(first.claimId, "returned", [a.id]);
  await firing.finish([{ claimId: first.claimId, fired: [b.id] }]);
  expect(await store.find(a.id)).toMatchObject({ status: "Firing", returns: 0 });
  expect(await store.find(b.id)).toMatchObject({ status: "Fired" });
  await settle(second.due, second.claimId, "fired");
  expect(await store.find(a.id)).toMatchObject({ status: "Fired" });
  expect(await books.dataSource.query("SELECT count(*)::int AS count FROM ended_timers")).toEqual([{ count: 2 }]);
});

it("Whoever died before PostgreSQL's clock was set back is taken over no later for it; who lives is not", async () => {
  const { store, firing } = stores();
  await store.put(putsOf([timer()]));
  const [gone, living] = [randomUUID(), randomUUID()];
  await claimAll(gone);
  await books.dataSource.query("UPDATE timer_owners SET lease_until = now() + interval '6 hours'"); // as that clock had it
  await firing.renew(living);
  expect((await firing.lapsed()).map(({ owner }) => owner)).toEqual([gone]);
  expect(await firing.takeOver([living, gone])).toBe(1);
  expect((await claimAll(randomUUID())).due).toHaveLength(1);
});

it("What PostgreSQL's clock had put off before it was set back is claimed again also by who looks for no next one", async () => {
  await stores().store.put(putsOf([timer()]));
  const { due, claimId } = await claimAll(randomUUID());
  await settle(due, claimId, "returned");
  await books.dataSource.query("UPDATE timers SET next_at = now() + interval '6 hours'"); // as that clock had it
  expect((await claimAll(randomUUID(), randomUUID(), "again")).due).toHaveLength(1);
});

it("Whoever leaves is found at once, and forgotten with what it left behind, if anything", async () => {
  const { store, firing } = stores();
  await store.put(putsOf([timer()]));
  const owner = randomUUID();
  const { due, claimId } = await claimAll(owner);
  await firing.leave(owner);
  expect((await firing.lapsed()).map((one) => one.owner)).toEqual([owner]);
  await settle(due, claimId, "fired");
  expect(await firing.takeOver([owner])).toBe(0);
  expect(await books.dataSource.query("SELECT * FROM timer_owners")).toEqual([]);
});

it("Managers that sleep are woken by a timer that is earlier than all others, and by no other", async () => {
  const { store } = stores();
  const client = new pg.Client(books.databaseUrl);
  await client.connect();
  let told = 0;
  client.on("notification", () => (told += 1));
  await client.query("LISTEN unacked_timers");
  const toldBy = async (...timers: NewTimer[]) => {
    told = 0;
    await store.put(putsOf(timers));
    await client.query("SELECT 1"); // what was notified before comes before this answer
    return told;
  };
  const at = (day: number): Partial<NewTimer> => ({ at: `2100-01-0${day}T00:00:00Z` });
  const first = timer(at(5));
  expect(await toldBy(first)).toBe(1);
  expect(await toldBy(timer(at(6)), timer(at(7)))).toBe(0);
  expect(await toldBy(timer(at(8)), timer(at(4)))).toBe(1);
  expect(await toldBy({ ...first, ...at(3) })).toBe(1);
  expect(await toldBy({ ...first, ...at(3) })).toBe(0); // it was there
  await client.end();
});

it("A claim takes those that are due first", async () => {
  const { store, firing } = stores();
  const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, "0")}:00Z`;
  await store.put(putsOf(Array.from({ length: 50 }, (_, i) => timer({ at: at((i * 7) % 50) }))));
  const { due } = await firing.claim({ owner: randomUUID(), claimId: randomUUID() }, 20);
  expect(due.map(({ atMs }) => atMs).sort((one, other) => one - other)).toEqual(
    Array.from({ length: 20 }, (_, minute) => Date.parse(at(minute))),
  );
});

it("What was over for long is removed, in small sets, and no more", async () => {
  const { store, firing } = stores();
  await store.put(putsOf(many(30)));
  const { due, claimId } = await claimAll(randomUUID());
  await settle(due, claimId, "fired");
  const old = due.slice(0, 25).map(({ id }) => id);
  await books.dataSource.query("UPDATE ended_timers SET ended_at = now() - interval '8 days' WHERE id = ANY($1)", [old]);
  expect(await firing.forget(7 * 86_400_000, 20)).toBe(20);
  expect(await firing.forget(7 * 86_400_000, 20)).toBe(5);
  expect((await store.list({ limit: 100 })).items).toHaveLength(5);
});

it("A list is filtered by name and status, and goes on where its page ended", async () => {
  const { store } = stores();
  await store.put(putsOf([...many(7, { at: LATER, name: "x.y" }), ...many(3, { at: LATER })]));
  const { items } = await store.list({ name: "n", limit: 100 });
  await cancel(items[0]?.id as TimerId);
  expect((await store.list({ statuses: ["Cancelled"], limit: 10 })).items.map(({ id }) => id)).toEqual([items[0]?.id]);
  const first = await store.list({ name: "x.y", statuses: ["Waiting"], limit: 4 });
  const second = await store.list({ name: "x.y", statuses: ["Waiting"], limit: 4, after: first.last });
  expect([first.items.length, second.items.length, first.total, second.last]).toEqual([4, 3, 7, undefined]);
  expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(7);
});

it("Of a great many that have fired the few of another status are found by themselves", async () => {
  const { dataSource } = books;
  await dataSource.query(
    `INSERT INTO ended_timers (id, name, payload, due_at, expires_at, status, returns, created_at, ended_at)
     SELECT gen_random_uuid(), 'n', '{}', now(), now(),
            CASE n WHEN 1 THEN 'Expired' WHEN 2 THEN 'Cancelled' ELSE 'Fired' END, 0, now() - n * interval '1 ms', now()
     FROM generate_series(1, 20000) n`,
  );
  await dataSource.query("VACUUM ANALYZE ended_timers");
  const plans: string[] = [];
  const explained = new Proxy(dataSource, {
    get: (of, key) =>
      key === "query" &&
      (async (sql: string, parameters: unknown[]) => {
        plans.push(JSON.stringify(await of.query(`EXPLAIN (FORMAT JSON) ${sql}`, parameters)));
        return of.query(sql, parameters);
      }),
  });
  const list = (statuses: readonly TimerStatusName[]) => new PostgresTimerStore(explained).list({ statuses, limit: 10 });
  expect((await list(["Expired"])).items).toMatchObject([{ status: "Expired" }]);
  expect((await list(["Cancelled", "Expired"])).items.map(({ status }) => status)).toEqual(["Expired", "Cancelled"]);
  expect(plans).toHaveLength(4);
  for (const plan of plans) {
    expect(plan).toContain("ended_timers_unfired");
    expect(plan).not.toMatch(/Seq Scan[^}]*ended_timers|ended_timers_newest/);
  }
});

it("What was claimed by a claim that its owner never heard of is let go of, and all other claims stand", async () => {
  const { store, firing } = stores();
  const owner = randomUUID();
  await store.put(putsOf(many(3)));
  const known = await claimAll(owner);
  await store.put(putsOf(many(2)));
  const unheard = await claimAll(owner);
  await firing.disown([unheard.claimId, randomUUID()]);
  expect(await store.find(unheard.due[0]?.id as TimerId)).toMatchObject({ status: "Waiting", lastProblem: null });
  const again = await claimAll(owner);
  expect(again.due.map(({ id }) => id).toSorted()).toEqual(unheard.due.map(({ id }) => id).toSorted());
  await firing.disown([unheard.claimId]);
  expect((await claimAll(owner)).due).toEqual([]);
  expect(await store.find(known.due[0]?.id as TimerId)).toMatchObject({ status: "Firing", endedAt: null });
});

it("A claim is over at once for all of it; those that were confirmed before are Fired one by one", async () => {
  const { store, firing } = stores();
  await store.put(putsOf(many(5)));
  const { due, claimId } = await claimAll(randomUUID());
  const ids = due.map(({ id }) => id);
  const statuses = async () => (await store.list({ limit: 10 })).items.map(({ status }) => status).toSorted();
  await firing.fired(ids.slice(0, 2));
  expect(await statuses()).toEqual(["Fired", "Fired", "Firing", "Firing", "Firing"]);
  expect((await store.list({ limit: 10, statuses: ["Firing"] })).items.map(({ id }) => id).toSorted()).toEqual(
    ids.slice(2).toSorted(),
  );
  expect((await store.list({ limit: 10, statuses: ["Fired"] })).total).toBe(2);
  expect((await countTimers(books.dataSource)).byStatus).toMatchObject([{ status: "Firing", count: 3 }]);
  await firing.giveBack(claimId, "returned", ids.slice(2, 3));
  await firing.finish([{ claimId, fired: ids.slice(3) }]);
  expect(await statuses()).toEqual(["Fired", "Fired", "Fired", "Fired", "Waiting"]);
  expect(await books.dataSource.query("SELECT * FROM timer_claims")).toEqual([]);
});

it("What is Firing is not forgotten, however short the retention is; the rest is", async () => {
  const { store, firing } = stores();
  await store.put(putsOf(many(3)));
  const { due, claimId } = await claimAll(randomUUID());
  const ids = due.map(({ id }) => id);
  await firing.fired(ids.slice(0, 1));
  expect(await firing.forget(0, 100)).toBe(1);
  await settle(due.slice(1), claimId, "fired");
  expect(await firing.forget(0, 100)).toBe(2);
});

it("A confirm that comes while others take the claim over, or claim it again, is written wherever the timer has gone", async () => {
  const { store, firing } = stores();
  for (const untilClaimed of [false, true]) {
    const one = timer();
    await store.put(putsOf([one]));
    const owner = randomUUID();
    await claimAll(owner);
    await books.dataSource.query("UPDATE timer_owners SET lease_until = now() - interval '1 second' WHERE id = $1", [owner]);
    const taking = books.dataSource.createQueryRunner();
    await taking.startTransaction();
    await taking.query("DELETE FROM timer_owners WHERE id = $1", [owner]);
    const written = firing.fired([one.id]); // waits for the row
    await untilWait(books.dataSource);
    await taking.commitTransaction();
    await taking.release();
    if (untilClaimed) await claimAll(randomUUID());
    await written;
    expect(await store.find(one.id)).toMatchObject({ status: "Fired" });
    expect(await books.dataSource.query("SELECT id FROM timers")).toEqual([]);
  }
});

it("What a dead one was firing is due again, unsure; what was confirmed stays Fired, and its claim gives nothing back any more", async () => {
  const { store, firing } = stores();
  const [one, two] = [timer(), timer()];
  await store.put(putsOf([one, two]));
  const owner = randomUUID();
  const { claimId } = await claimAll(owner);
  await firing.fired([two.id]);
  await firing.leave(owner);
  expect(await firing.takeOver([owner])).toBe(1);
  expect(await store.find(one.id)).toMatchObject({ status: "Firing", lastProblem: "unknown" });
  expect(await store.find(two.id)).toMatchObject({ status: "Fired" });
  expect((await claimAll(randomUUID())).due.map(({ id }) => id)).toEqual([one.id]);
  await firing.giveBack(claimId, "returned", [one.id]);
  expect(await store.find(one.id)).toMatchObject({ status: "Firing", returns: 0 });
});

it("Who sets the same timer while it is claimed, or given back, is answered with it", async () => {
  const { store, firing } = stores();
  for (const isGivenBack of [false, true]) {
    const one = timer();
    await store.put(putsOf([one]));
    const claiming = books.dataSource.createQueryRunner();
    await claiming.startTransaction();
    await claiming.query("SELECT FROM timers WHERE id = $1 FOR UPDATE", [one.id]);
    const put = putOne(one); // meets the row, and waits for it
    await untilWait(books.dataSource);
    const claimId = randomUUID();
    await claiming.query(
      "WITH gone AS (DELETE FROM timers WHERE id = $1 RETURNING *), kept AS (INSERT INTO ended_timers (id, name, payload, due_at, expires_at, status, returns, created_at, ended_at, claim_id, default_expiry, unsure) SELECT id, name, payload, due_at, expires_at, 'Fired', returns, created_at, now(), $2::uuid, default_expiry, unsure FROM gone) INSERT INTO timer_claims VALUES ($2::uuid, $3, ARRAY[$1::uuid])",
      [one.id, claimId, randomUUID()],
    );
    await claiming.commitTransaction();
    await claiming.release();
    if (isGivenBack) await firing.giveBack(claimId, "not-sent", [one.id]);
    expect(await put).toMatchObject({ kind: "exists" });
  }
});

it("While claims, confirms, take-overs, returns and sets meet for the same timers, none is lost and none is there twice", async () => {
  const { store, firing } = stores();
  const timers = many(60);
  await store.put(putsOf(timers));
  const fired = new Set<string>();
  const errors: string[] = [];
  /** A deadlock ends by one of both, who tries it again. */
  const trying = async <T>(what: string, how: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await how();
      } catch (error) {
        errors.push(`${what}: ${error instanceof Error ? error.message : error}`);
      }
    }
  };
  const dueAgain = `UPDATE timers SET next_at = now()
    WHERE id = ANY(ARRAY(SELECT id FROM timers WHERE returns > 0 ORDER BY id FOR UPDATE))`;
  const firer = async (owner: string, rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      const claimId = randomUUID();
      const tries = round % 4 === 0 ? "again" : "first";
      const { due } = await trying("claim", () => firing.claim({ owner, claimId }, 20, tries));
      const ids = due.map(({ id }) => id);
      await trying("give back", () => firing.giveBack(claimId, "returned", ids.slice(0, 5)));
      await trying("due again", () => books.dataSource.query(dueAgain));
      await trying("fired", () => firing.fired(ids.slice(5, 10)));
      for (const id of ids.slice(5, 10)) fired.add(id);
      if (round % 3 === 0) continue; // leaves it to others
      await trying("finish", () => firing.finish([{ claimId, fired: ids.slice(5) }]));
      for (const id of ids.slice(5)) fired.add(id);
    }
  };
  const owners = Array.from({ length: 3 }, () => randomUUID());
  const taker = async () => {
    for (let round = 0; round < 20; round += 1) {
      await books.dataSource.query("UPDATE timer_owners SET lease_until = now() - interval '1 second'");
      await trying("take over", () => firing.takeOver(owners));
    }
  };
  const setter = async () => {
    for (let round = 0; round < 15; round += 1) await trying("put", () => store.put(putsOf(timers)));
  };
  await Promise.all([...owners.map((owner) => firer(owner, 12)), taker(), setter()]);
  await books.dataSource.query("UPDATE timer_owners SET lease_until = now() - interval '1 second'");
  await firing.takeOver(owners);
  const rows = await books.dataSource.query(
    "SELECT id, 'Live' AS status, unsure FROM timers UNION ALL SELECT id, status, unsure FROM ended_timers",
  );
  console.log(`${fired.size} of ${timers.length} fired; tried again: ${errors.join(", ") || "nothing"}`);
  expect(rows.map(({ id }: { id: string }) => id).toSorted()).toEqual(timers.map(({ id }) => id).toSorted());
  // What was taken over before its firer had said so is due once more, under the same message-id.
  const overOrUnsure = rows.filter(
    ({ id, status, unsure }: { id: string; status: string; unsure: boolean }) =>
      status === "Fired" || (unsure && fired.has(id)),
  );
  expect(overOrUnsure.map(({ id }: { id: string }) => id).toSorted()).toEqual([...fired].toSorted());
  expect(await books.dataSource.query("SELECT * FROM timer_claims")).toEqual([]);
});

it("Where the way to the database is long, one whose time has gone is claimed at once", async () => {
  const wire = await tcpProxy(books.databaseUrl);
  const far = createDataSource({ databaseUrl: wire.through(books.databaseUrl), log: keptLog() });
  await far.initialize();
  onTestFinished(() => far.destroy());
  const firing = new PostgresTimerFiringStore(far);
  wire.delay(30);
  for (let i = 0; i < 3; i += 1) {
    await firing.nextDueInMs();
    await firing.claim({ owner: randomUUID(), claimId: randomUUID() }, 10);
    const { id } = timer();
    await putOne(timer({ id }));
    const { due } = await firing.claim({ owner: randomUUID(), claimId: randomUUID() }, 10);
    expect(due).toMatchObject([{ id }]);
  }
});
