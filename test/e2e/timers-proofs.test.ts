import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rawPublishRate } from "../support/broker/raw-publish.ts";
import { Requester } from "../support/broker/requester.ts";
import { type HeardTimer, TimerListener } from "../support/broker/timer-listener.ts";
import { eventually } from "../support/eventually.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { newIds, sayPercentiles, Timers } from "../support/time/timers.ts";

/** `npm run prove -- timers`: full counts, and the rates that are promised. Shorter here, and the rates are shown. */
const FULL = proves("timers");
const shortOrFull = <T>(short: T, full: T): T => (FULL ? full : short);

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

const url = () => system.env.AMQP_URL as string;
const listen = async () => {
  const listener = await TimerListener.listen(url(), "#");
  listeners.push(listener);
  return listener;
};
const BODY = Buffer.from('{"i":12345}');
const say = (text: string) => process.stdout.write(`${text}\n`);
const statements = async () =>
  Number(
    (
      await queryRows<{ count: string }>(
        system.env.DATABASE_URL as string,
        "SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()",
      )
    )[0]?.count,
  );

// In short forms these two stand in timers.test.ts.
test.runIf(FULL)(
  "All that are due in one second fire, though one of two managers is killed in the middle",
  async () => {
    const count = shortOrFull(4_000, 100_000);
    const doomed = await system.startManager({ speakTo: false });
    await system.startManager();
    // As many as there are timers: a listener that keeps them has more to do with each thousand.
    const rawRate = () => rawPublishRate(url(), count, BODY);
    // Not the first that these processes do, on either side: with it they compile what they run through.
    await rawRate();
    const firstOnes = newIds(count / 5);
    const firstListener = await listen();
    await timers.putAll(firstOnes, () => Date.now());
    await timers.untilHeard(firstListener, firstOnes, 60_000);
    await timers.untilNoneIsLeft();
    await firstListener.close();
    const listener = await listen();
    const before = await rawRate();
    const ids = newIds(count);
    const atMs = Date.now() + shortOrFull(5_000, 40_000);
    const created = await timers.putAll(ids, (i) => atMs + (i % 1_000));
    await eventually(() => expect(listener.count).toBeGreaterThan(count / 3), { timeoutMs: 120_000 });
    await doomed.kill("SIGKILL");
    await timers.untilHeard(listener, ids, 180_000);
    await timers.untilNoneIsLeft();
    const after = await rawRate();
    const raw = (before + after) / 2;
    const rows = await timers.ended();
    expect([rows.length, rows.filter(({ status }) => status !== "Fired")]).toEqual([count + firstOnes.length, []]);
    const unsure = new Set(rows.filter((row) => row.last_problem === "unknown").map(({ id }) => id));
    const twice = ids.filter((id) => listener.of(id).length > 1);
    const first = (listener.heard[0]?.heardAtMs ?? 0) - atMs;
    const sure = listener.heard.filter(({ id }) => !unsure.has(id));
    const rate = sure.length / (((sure.at(-1)?.heardAtMs ?? 0) - atMs) / 1_000);
    const late = (all: readonly HeardTimer[]) =>
      all.map(({ heardAtMs, headers }) => heardAtMs - Date.parse(headers.at as string));
    expect(Math.min(...late(listener.heard))).toBeGreaterThanOrEqual(-20);
    say(`${count} in one second, two managers, one killed after a third; set ${Math.round(created)} a second in batches`);
    say(
      `the first ${first} ms after its time; late: ${sayPercentiles(late(sure))}; with those that were taken over: ${sayPercentiles(late(listener.heard))}`,
    );
    say(
      `${Math.round(rate)} a second; the bare broker ${Math.round(before)} before, ${Math.round(after)} after: ${(rate / raw).toFixed(2)} of it`,
    );
    say(`${unsure.size} taken over, ${twice.length} heard twice`);
    expect(twice.filter((id) => !unsure.has(id))).toEqual([]);
    expect(listener.heard.length).toBe(count + twice.length);
    if (!FULL) return;
    expect(first).toBeLessThanOrEqual(1_000);
    expect(rate / raw).toBeGreaterThanOrEqual(0.5);
  },
  600_000,
);

test.runIf(isTurnOf(0))(
  "What is spread over a minute comes at its time, and idle managers ask little",
  async () => {
    const [count, spreadMs] = shortOrFull([2_000, 4_000], [100_000, 60_000]);
    await system.startManager();
    const listener = await listen();
    const ids = newIds(count);
    const atMs = Date.now() + shortOrFull(4_000, 40_000);
    await timers.putAll(ids, (i) => atMs + (i * spreadMs) / count);
    await timers.untilHeard(listener, ids, 240_000);
    const late = listener.heard.map(({ heardAtMs, headers }) => heardAtMs - Date.parse(headers.at as string));
    say(`${count} over ${spreadMs / 1_000} s, late: ${sayPercentiles(late)}`);
    expect(listener.heard).toHaveLength(count);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(-20);
    await timers.untilNoneIsLeft();
    const [before, idleMs] = [await statements(), shortOrFull(3_000, 20_000)];
    await sleep(idleMs);
    const after = await statements();
    say(`idle: ${((after - before) / (idleMs / 1_000)).toFixed(1)} transactions a second, of all that a manager does`);
  },
  600_000,
);

test.runIf(isTurnOf(2))(
  "They are set, cancelled, fired and gone as fast as is promised",
  async () => {
    const users = { guest: { role: "operator", timers: ["*"], perMinute: 10_000_000 } };
    await system.startManager({ env: { REQUEST_USERS: JSON.stringify(users) } });
    const listener = await listen();
    const count = shortOrFull(2_000, 20_000);
    const body = { at: "2100-01-01T00:00:00Z", name: "far.away", payload: { a: 1 } };
    const batches = await timers.putAll(newIds(shortOrFull(10_000, 100_000)), () => Date.parse(body.at));

    const requester = await eventually(() => Requester.connect(url()));
    const rateOf = async (some: object[], each: number) => {
      const before = performance.now();
      const asked = new Set(await requester.publishMany(some, undefined, { key: "timers" }));
      await eventually(
        () => expect(requester.replies.filter(({ correlationId }) => asked.has(correlationId)).length).toBe(asked.size),
        { timeoutMs: 120_000 },
      );
      return (some.length * each) / ((performance.now() - before) / 1_000);
    };
    const ids = newIds(count);
    const singly = await rateOf(
      ids.map((id) => ({ timers: [{ ...body, id }] })),
      1,
    );
    const cancelled = await rateOf(
      ids.map((id) => ({ cancelTimers: [id] })),
      1,
    );
    const told = requester.replies.flatMap((reply) => reply.body.results.map(({ status }) => status));
    expect([told.filter((one) => one === 201).length, told.filter((one) => one === 200).length]).toEqual([count, count]);
    await requester.close();

    const rest = newIds(shortOrFull(300, 3_000));
    const left = [...rest];
    let before = performance.now();
    const worker = async () => {
      for (let id = left.shift(); id !== undefined; id = left.shift()) await timers.put(id, body);
    };
    await Promise.all(Array.from({ length: 50 }, worker));
    const overRest = rest.length / ((performance.now() - before) / 1_000);
    before = performance.now();
    await timers.cancelEach(rest);
    const cancelledOverRest = rest.length / ((performance.now() - before) / 1_000);

    const due = newIds(shortOrFull(4_000, 100_000));
    const atMs = Date.now() + shortOrFull(4_000, 30_000);
    await timers.putAll(due, () => atMs);
    await timers.untilHeard(listener, due, 180_000);
    const heardMs = (listener.heard.at(-1)?.heardAtMs ?? 0) - atMs;
    await eventually(async () => {
      const [row] = await queryRows<{ count: number }>(
        system.env.DATABASE_URL as string,
        "SELECT count(*)::int AS count FROM timers WHERE due_at < '2090-01-01'",
      );
      expect(row?.count).toBe(0);
    });
    const gone = due.length / ((Date.now() - atMs) / 1_000);
    const raw = await rawPublishRate(url(), shortOrFull(4_000, 30_000), BODY);
    say(
      `set: ${Math.round(batches)} a second in batches, ${Math.round(singly)} singly over AMQP, ${Math.round(overRest)} over REST`,
    );
    say(`cancelled: ${Math.round(cancelled)} a second singly over AMQP, ${Math.round(cancelledOverRest)} over REST`);
    say(
      `fired, confirmed and gone by one manager: ${Math.round(gone)} a second (heard ${Math.round(due.length / (heardMs / 1_000))}); the bare broker ${Math.round(raw)}`,
    );
    if (!FULL) return;
    expect(batches).toBeGreaterThanOrEqual(10_000);
    expect(singly).toBeGreaterThanOrEqual(1_400);
    expect(cancelled).toBeGreaterThanOrEqual(1_920);
    expect(gone).toBeGreaterThanOrEqual(10_000);
  },
  600_000,
);

test.runIf(FULL)(
  "While cancels race the firing, cancelled ones never fire, and already-fired ones always did",
  async () => {
    const count = shortOrFull(500, 10_000);
    await system.startManager();
    await system.startManager({ speakTo: false });
    const listener = await listen();
    const ids = newIds(count);
    const atMs = Date.now() + shortOrFull(2_000, 10_000);
    // As long as their cancels take, so that these and the firing meet all the while.
    const spreadMs = shortOrFull(2_500, 30_000);
    await timers.putAll(ids, (i) => atMs + (i * spreadMs) / count);
    await sleep(Math.max(0, atMs - Date.now()));
    const told = await timers.cancelEach(ids);
    await timers.untilNoneIsLeft();
    const of = (wanted: string) => told.filter(({ outcome }) => outcome === wanted).map(({ id }) => id);
    const [never, fired] = [of("cancelled"), of("already-fired")];
    say(`${never.length} cancelled, ${fired.length} fired, of ${count}`);
    expect(never.length + fired.length).toBe(count);
    await timers.untilHeard(listener, fired);
    expect(never.filter((id) => listener.ids.has(id))).toEqual([]);
    expect(listener.heard).toHaveLength(fired.length);
  },
  600_000,
);
