import { randomUUID } from "node:crypto";
import type { AuditPage, Stats, TimerView } from "@unacked/contracts";
import { connect } from "amqplib";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shownConnection } from "../support/broker/connections.ts";
import { TimerListener } from "../support/broker/timer-listener.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { type CrashPoint, diesAt } from "../support/processes/crash-point.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { newIds, Timers } from "../support/time/timers.ts";

/** The crash table of docs/decisions/0014-timers.md. */
let system: System;
let timers: Timers;
let listeners: TimerListener[] = [];

beforeEach(async () => {
  system = await freshSystem();
  timers = new Timers(system);
});
afterEach(async () => {
  await Promise.all(listeners.map((one) => one.close().catch(() => undefined)));
  listeners = [];
  await system.close();
});

const KILLED = { code: null, signal: "SIGKILL" };
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const listen = async (key: string) => {
  const listener = await TimerListener.listen(system.env.AMQP_URL as string, key);
  listeners.push(listener);
  return listener;
};
const put = (id: string, body: object) => timers.put(id, body);
const get = (id: string) => timers.get(id);
const cancel = (id: string) => timers.cancel(id);
const untilStatus = (id: string, status: TimerView["status"]) =>
  eventually(async () => {
    const timer = await get(id);
    expect(timer.status).toBe(status);
    return timer;
  });
const putAll = (ids: string[], at: string) => timers.putAll(ids, () => Date.parse(at));
const untilHeard = (listener: TimerListener, ids: string[], timeoutMs?: number) =>
  timers.untilHeard(listener, ids, timeoutMs);
const untilNoneWaits = () => timers.untilNoneIsLeft();

test("A timer is heard at its time, with its id, its name and its payload; repeated it is the same; then it is over", async () => {
  await system.startManager();
  const listener = await listen("t.*");
  const id = randomUUID();
  const at = inMs(4_000);
  const body = { at, payload: { cart: 4711, texts: ["ä", null] } };
  expect(await put(id, body)).toMatchObject({ status: 201, body: { id, status: "Waiting", outcome: "created" } });
  expect(await put(id, { ...body, at: at.replace("Z", "+00:00") })).toMatchObject({
    status: 200,
    body: { outcome: "exists" },
  });
  await untilHeard(listener, [id]);
  const [heard] = listener.of(id);
  expect(heard).toMatchObject({
    exchange: "unacked.timers",
    name: "t.one",
    type: "Timer",
    persistent: true,
    payload: body.payload,
    headers: { at, name: "t.one" },
  });
  expect(heard?.heardAtMs).toBeGreaterThanOrEqual(Date.parse(at) - 20);
  const fired = await untilStatus(id, "Fired");
  console.log(`heard ${(heard?.heardAtMs ?? 0) - Date.parse(at)} ms after its time`);
  expect(fired).toMatchObject({ nextTryAt: null, returns: 0, lastProblem: null });
  expect((await put(id, body)).body).toMatchObject({ code: "timer-over", status: 410 });
  expect((await cancel(id)).body).toMatchObject({ code: "already-fired", status: 409 });
  expect(listener.of(id)).toHaveLength(1);
  await eventually(async () => {
    const metrics = await scrape(system.url);
    expect(metrics.value("unacked_manager_timers_tried_total", { outcome: "fired" })).toBe(1);
    expect(metrics.value("unacked_manager_timer_lateness_seconds_count")).toBe(1);
    expect(metrics.value("unacked_timers", { status: "Waiting" })).toBe(0);
  });
}, 240_000);

test.runIf(isTurnOf(2))(
  "One that is earlier than all others does not wait for them, one that is moved comes at its new time, and UNIX time will do",
  async () => {
    await system.startManager();
    const listener = await listen("#");
    const [late, soon, moved] = newIds(3) as [string, string, string];
    await put(late, { at: inMs(3_600_000) });
    await put(moved, { at: inMs(7_200_000) });
    await put(soon, { at: Math.floor(Date.now() / 1_000) + 1 });
    const answer = await put(moved, { at: inMs(1_000), payload: "moved" });
    expect(answer).toMatchObject({ status: 200, body: { outcome: "replaced" } });
    await untilHeard(listener, [soon, moved]);
    expect(listener.of(moved).map(({ payload }) => payload)).toEqual(["moved"]);
    expect(listener.of(late)).toEqual([]);
    expect(await get(late)).toMatchObject({ status: "Waiting" });
  },
  240_000,
);

test.runIf(isTurnOf(2))(
  "What is due is due by PostgreSQL's clock",
  async () => {
    const client = new pg.Client(system.env.DATABASE_URL);
    await client.connect();
    await client.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET unacked.clock_shift = %L', current_database(), '1 hour'); END $$`,
    );
    await client.end();
    await system.startManager();
    const listener = await listen("#");
    const [before, after] = newIds(2) as [string, string];
    await put(before, { at: inMs(3_000_000) });
    await put(after, { at: inMs(4_200_000) });
    await untilHeard(listener, [before]);
    expect(await get(after)).toMatchObject({ status: "Waiting" });
    expect(listener.of(after)).toEqual([]);
  },
  240_000,
);

test.runIf(isTurnOf(1))(
  "While nobody is bound it waits, a warning names it, and it comes once somebody is; it can be cancelled, and expires",
  async () => {
    await system.startManager();
    const [heardLater, cancelled, expires] = newIds(3) as [string, string, string];
    await put(heardLater, { at: inMs(0), name: "nobody.hears" });
    await put(cancelled, { at: inMs(0), name: "nobody.hears" });
    await put(expires, { at: inMs(0), name: "nobody.hears", expiresAt: inMs(3_000) });
    for (const id of [heardLater, cancelled, expires])
      await eventually(async () => expect((await get(id)).returns).toBeGreaterThan(0));
    await eventually(async () => {
      const { warnings } = (await system.call<Stats>("GET", "/api/v1/stats")).body;
      const found = warnings.filter(({ code }) => code === "timers-unheard");
      expect(found).toMatchObject([{ subject: "nobody.hears", message: expect.stringContaining("no queue took") }]);
    });
    expect(await untilStatus(expires, "Expired")).toMatchObject({ lastProblem: "returned" });
    expect((await cancel(expires)).body).toMatchObject({ code: "timer-over" });
    // It may be Firing at the moment of one look.
    await eventually(async () => expect((await cancel(cancelled)).status).toBe(200));
    const listener = await listen("nobody.#");
    await untilHeard(listener, [heardLater]);
    await untilStatus(heardLater, "Fired");
    expect([...listener.ids.keys()]).toEqual([heardLater]);
    await eventually(async () => {
      const { warnings } = (await system.call<Stats>("GET", "/api/v1/stats")).body;
      expect(warnings.filter(({ code }) => code === "timers-unheard")).toEqual([]);
    });
  },
  240_000,
);

test.runIf(isTurnOf(1))(
  "A queue that refuses a timer is told of; nobody can cancel it, and it is heard when there is room",
  async () => {
    await system.startManager();
    const model = await connect(system.env.AMQP_URL as string);
    const channel = await model.createChannel();
    await channel.assertQueue("full", { arguments: { "x-max-length": 1, "x-overflow": "reject-publish" } });
    await channel.bindQueue("full", "unacked.timers", "full.#");
    const [first, second] = newIds(2) as [string, string];
    await put(first, { at: inMs(0), name: "full.one" });
    await untilStatus(first, "Fired");
    await put(second, { at: inMs(0), name: "full.one" });
    await eventually(async () => expect(await get(second)).toMatchObject({ status: "Firing", lastProblem: "refused" }));
    expect((await cancel(second)).body).toMatchObject({ code: "already-fired" });
    await eventually(async () => {
      const { warnings } = (await system.call<Stats>("GET", "/api/v1/stats")).body;
      const found = warnings.filter(({ code }) => code === "timers-unheard");
      expect(found).toMatchObject([{ subject: "full.one", message: expect.stringContaining("refuses it") }]);
    });
    await channel.purgeQueue("full");
    await eventually(async () => expect((await get(second)).status).toBe("Fired"), { timeoutMs: 40_000 });
    await model.close();
  },
);

test.each(
  inTurn<[string, CrashPoint, number]>([
    ["after the claim, before it publishes", "publish unacked.timers", 1],
    ["after the publish, before the confirm", "confirm unacked.timers", 2],
  ]),
)(
  "A manager that dies %s: another one fires it",
  async (_, point, times) => {
    const doomed = await system.startManager({ env: diesAt(point) });
    const listener = await listen("#");
    const id = randomUUID();
    await put(id, { at: inMs(500) });
    expect(await doomed.exited).toEqual(KILLED);
    await system.startManager();
    // Nobody can say whether it was heard: no cancel may say that it never will be.
    expect((await cancel(id)).body).toMatchObject({ code: "already-fired" });
    await untilStatus(id, "Fired");
    await eventually(() => expect(listener.of(id)).toHaveLength(times));
  },
  240_000,
);

test.runIf(isTurnOf(1))(
  "2,000 due at once, and one of two managers is killed in the middle: all are fired, twice only what was in flight",
  async () => {
    const doomed = await system.startManager({ env: diesAt("confirm unacked.timers", 2), speakTo: false });
    await system.startManager();
    const listener = await listen("#");
    const all: string[] = [];
    let isDead = false;
    void doomed.exited.then(() => (isDead = true));
    // Where the other one is faster by far, the one that is to die may get none: once more, then.
    for (let round = 0; round < 10 && !isDead; round += 1) {
      const ids = newIds(2_000);
      all.push(...ids);
      await putAll(ids, inMs(2_000));
      await untilHeard(listener, ids);
    }
    expect(await doomed.exited).toEqual(KILLED);
    await untilNoneWaits();
    const rows = await timers.ended();
    expect(rows.filter(({ status }) => status !== "Fired")).toEqual([]);
    expect(rows).toHaveLength(all.length);
    const unsure = new Set(rows.filter((row) => row.last_problem === "unknown").map(({ id }) => id));
    const twice = all.filter((id) => listener.of(id).length > 1);
    console.log(`${all.length} fired, ${unsure.size} taken over, ${twice.length} heard twice`);
    expect(unsure.size).toBeGreaterThan(0);
    expect(twice.filter((id) => !unsure.has(id))).toEqual([]);
    expect(listener.heard.length).toBe(all.length + twice.length);
  },
  240_000,
);

test.runIf(isTurnOf(0))(
  "While cancels race the firing of two managers: cancelled ones never fire, already-fired ones always did",
  async () => {
    await system.startManager();
    await system.startManager({ speakTo: false });
    const listener = await listen("#");
    const ids = newIds(1_000);
    await putAll(ids, inMs(1_500));
    await eventually(() => expect(listener.heard.length).toBeGreaterThan(0));
    const told = await timers.cancelEach(ids.toReversed());
    // And some that are due while they are cancelled one after the other.
    const spread = newIds(200);
    for (const [i, id] of spread.entries()) await put(id, { at: inMs(5 * i) });
    told.push(...(await timers.cancelEach(spread)));
    const long = newIds(50);
    await putAll(long, inMs(3_600_000));
    told.push(...(await timers.cancelEach(long)));
    await untilNoneWaits();
    const of = (wanted: string) => told.filter(({ outcome }) => outcome === wanted).map(({ id }) => id);
    const [never, fired] = [of("cancelled"), of("already-fired")];
    console.log(`${never.length} cancelled, ${fired.length} fired`);
    expect(never.length + fired.length).toBe(1_250);
    expect(never.length).toBeGreaterThanOrEqual(50);
    await untilHeard(listener, fired);
    expect(never.filter((id) => listener.ids.has(id))).toEqual([]);
    expect(listener.heard).toHaveLength(fired.length);
  },
  240_000,
);

test.runIf(isTurnOf(2))(
  "1,000 cancels and 1,000 sets at once are each answered right, and others are answered meanwhile",
  async () => {
    await system.startManager();
    const there = newIds(1_000);
    await putAll(there, inMs(3_600_000));
    const fresh = newIds(1_000);
    let isUnderWay = true;
    const reads: number[] = [];
    // None has a bound of its own: this process makes a connection for each, which costs it more than they cost the manager.
    const reader = (async () => {
      while (isUnderWay) reads.push((await callHttp(`${system.url}/api/v1/timers?limit=1`, "GET")).status);
    })();
    const before = performance.now();
    const json = { name: "t.one", payload: null, at: inMs(3_600_000) };
    const one = (method: string, id: string, more = {}) => callHttp(`${system.url}/api/v1/timers/${id}`, method, more);
    // Some of them twice, and a set and a cancel of the same one.
    const [cancels, puts] = await Promise.all([
      Promise.all([...there, ...there.slice(0, 100), ...newIds(10)].map((id) => one("DELETE", id))),
      Promise.all([...fresh, ...fresh.slice(0, 100)].map((id) => one("PUT", id, { json }))),
    ]);
    const tookS = (performance.now() - before) / 1_000;
    isUnderWay = false;
    await reader;
    const counted = (statuses: number[]) => {
      const counts: Record<number, number> = {};
      for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    };
    expect(counted(cancels.map(({ status }) => status))).toEqual({ 200: 1_100, 404: 10 });
    expect(counted(puts.map(({ status }) => status))).toEqual({ 200: 100, 201: 1_000 });
    expect(new Set(reads)).toEqual(new Set([200]));
    console.log(`2,210 single calls in ${tookS.toFixed(1)} s, ${reads.length} reads meanwhile`);
    const rows = await timers.ended();
    expect(rows.filter(({ status }) => status === "Cancelled")).toHaveLength(1_000);
    const { body } = await system.call<AuditPage>("GET", "/api/v1/audit?action=timer.cancel&limit=1");
    expect(body.total).toBe(1_000);
  },
  240_000,
);

test.runIf(isTurnOf(0))(
  "The broker cuts the connection again and again in the middle: all are fired",
  async () => {
    await system.startManager();
    const listener = await listen("#");
    const ids: string[] = [];
    let cuts = 0;
    for (let round = 0; round < 4; round += 1) {
      const fresh = newIds(2_000);
      ids.push(...fresh);
      const { name } = await shownConnection(system.management, "unacked-manager-timers");
      await putAll(fresh, inMs(1_500));
      await eventually(() => expect(fresh.some((id) => listener.ids.has(id))).toBe(true));
      // It may have gone by itself.
      await system.management
        .closeConnection(name)
        .then(() => (cuts += 1))
        .catch(() => undefined);
      await untilHeard(listener, fresh);
    }
    expect(cuts).toBeGreaterThan(0);
    await untilNoneWaits();
    console.log(`${cuts} cuts, ${listener.heard.length - ids.length} heard twice`);
    const unsure = new Set((await timers.ended()).filter((row) => row.last_problem === "unknown").map(({ id }) => id));
    expect(ids.filter((id) => listener.of(id).length > 1 && !unsure.has(id))).toEqual([]);
  },
  240_000,
);

test.runIf(isTurnOf(0))(
  "An exchange that somebody deletes is declared again, and what was due meanwhile comes",
  async () => {
    await system.startManager();
    const listener = await listen("#");
    await system.management.call("DELETE", "/exchanges/{vhost}/unacked.timers");
    const id = randomUUID();
    await put(id, { at: inMs(0) });
    await eventually(async () => expect((await get(id)).lastProblem).not.toBeNull());
    await listener.close();
    await untilHeard(await listen("#"), [id]);
    await untilStatus(id, "Fired");
  },
  240_000,
);

test.runIf(isTurnOf(2))(
  "A frozen manager's timers are fired by another; when it goes on, it changes nothing but what fired",
  async () => {
    const frozen = await system.startManager({ speakTo: false });
    await system.startManager();
    const listener = await listen("#");
    const ids = newIds(2_000);
    await putAll(ids, inMs(1_500));
    await eventually(() => expect(listener.heard.length).toBeGreaterThan(0));
    process.kill(frozen.pid, "SIGSTOP");
    await untilHeard(listener, ids);
    await untilNoneWaits();
    process.kill(frozen.pid, "SIGCONT");
    const after = newIds(100);
    await putAll(after, inMs(1_000));
    await untilHeard(listener, after);
    await untilNoneWaits();
    const rows = await timers.ended();
    const unsure = new Set(rows.filter((row) => row.last_problem === "unknown").map(({ id }) => id));
    const twice = ids.filter((id) => listener.of(id).length > 1);
    console.log(`frozen: ${unsure.size} taken over, ${twice.length} heard twice`);
    expect(rows.map(({ status }) => status).filter((status) => status !== "Fired")).toEqual([]);
    expect(rows).toHaveLength(2_100);
    expect(twice.filter((id) => !unsure.has(id))).toEqual([]);
  },
  240_000,
);

test.runIf(isTurnOf(1))(
  "10,000 due at once are fired in sets, and none is left",
  async () => {
    await system.startManager();
    const listener = await listen("#");
    const ids = newIds(10_000);
    const at = inMs(6_000);
    await putAll(ids, at);
    await untilHeard(listener, ids, 60_000);
    await untilNoneWaits();
    const tookMs = (listener.heard.at(-1)?.heardAtMs ?? 0) - Math.max(Date.parse(at), listener.heard[0]?.heardAtMs ?? 0);
    console.log(
      `10,000 timers in ${tookMs} ms, the first ${(listener.heard[0]?.heardAtMs ?? 0) - Date.parse(at)} ms after its time`,
    );
    expect(listener.heard).toHaveLength(10_000);
  },
  240_000,
);
