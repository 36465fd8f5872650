import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskBatchResults, TaskTypeView } from "@unacked/contracts";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mostAtOnce, readSpans } from "../support/acts/spans.ts";
import { type OwnBroker, systemOnOwnBroker } from "../support/broker/own-broker.ts";
import { memoryAlarm } from "../support/broker/rabbitmqctl.ts";
import { eventually } from "../support/eventually.ts";
import { diesAt } from "../support/processes/crash-point.ts";
import { ROOT, type RunningProcess } from "../support/processes/processes.ts";
import { proves } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows, runStatement } from "../support/servers/servers.ts";
import type { System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";
import { Cancels, CreatesAgain, QueueLengths, type Request } from "../support/tasks/beside-faults.ts";
import { claimTimes, claimTimesInWords, keepClaimTimes } from "../support/tasks/claim-times.ts";
import { LONG_READER, LongestTransaction } from "../support/tasks/longest-transaction.ts";

const FULL = proves("tasks");
/** In the full form all of it lasts for about as long as the snapshot. */
const { COUNT, LIMITED, CANCELLED, MS, SERVICES, BEFORE_S, ALARM_S, SNAPSHOT_S, MIDNIGHT_IN_S } = FULL
  ? {
      COUNT: 200_000,
      LIMITED: 2_000,
      CANCELLED: 2_000,
      MS: 220,
      SERVICES: 4,
      BEFORE_S: 60,
      ALARM_S: 60,
      SNAPSHOT_S: 600,
      MIDNIGHT_IN_S: 135,
    }
  : {
      COUNT: 5_000,
      LIMITED: 100,
      CANCELLED: 200,
      MS: 280,
      SERVICES: 2,
      BEFORE_S: 5,
      ALARM_S: 10,
      SNAPSHOT_S: 25,
      MIDNIGHT_IN_S: 45,
    };
const ENV = { OBSERVERS_DIR: join(ROOT, compiled("edge-tasks")), TASK_WORKERS: FULL ? "25" : "10", SLOTS: "1" };
const AT_ONCE = 5_000;
const TASK_QUEUE = "unacked.tasks.default";
/** Managers and services take at most so many times as long to start as a broker and a database: by that a slow machine's midnight is later. */
const STARTS = 2;
/** What a machine that does much else adds to a claim of some ms. */
const NOISE_MS = FULL ? 5 : 500;

let own: OwnBroker;
let system: System;
/** Dies between the commit of a claim and its publish, when it has sent a quarter of all. */
let doomed: RunningProcess;
let tasks: Tasks;
let limited: Tasks;
/** It is midnight so long after managers begin to start. */
let midnightInS: number;

const rows = <Row>(sql: string) => queryRows<Row>(own.databaseUrl, sql);

beforeAll(async () => {
  const beganMs = performance.now();
  own = await systemOnOwnBroker();
  midnightInS = Math.round(MIDNIGHT_IN_S + (STARTS * (performance.now() - beganMs)) / 1_000);
  ({ system } = own);
  tasks = new Tasks(system);
  limited = new Tasks(system);
  await shiftMidnightTo(midnightInS);
  doomed = await system.startManager({ env: diesAt("publish unacked.tasks", COUNT * 0.25) });
  await system.startManager();
  await keepClaimTimes(own.databaseUrl);
  for (let i = 1; i <= SERVICES; i += 1) await system.startService(`worker-${i}`, { env: ENV });
  const { status } = await system.call<TaskTypeView>("PATCH", "/api/v1/task-types/span", { maxRunning: 1 });
  expect(status).toBe(200);
  console.log(
    `all started after ${Math.round((performance.now() - beganMs) / 1_000)} s; midnight ${midnightInS} s after its broker and database`,
  );
}, 240_000);
afterAll(() => own?.close());

/** For who connects from now on: in the books it is so many seconds before midnight (UTC). */
async function shiftMidnightTo(inS: number): Promise<void> {
  await runStatement(
    own.databaseUrl,
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET unacked.clock_shift = %L', current_database(),
       (date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day' - interval '${inS} seconds' - now() AT TIME ZONE 'UTC')::text); END $$`,
  );
}

const pgNow = async () => (await rows<{ now: string }>("SELECT clock_timestamp()::text AS now"))[0]?.now ?? "";

const requestOf = (type: "work" | "span", params: object): Request => ({ id: randomUUID(), type, params: { ...params } });

async function createAll(requests: Request[]): Promise<void> {
  for (let i = 0; i < requests.length; i += AT_ONCE) {
    const { body } = await system.call<TaskBatchResults>("POST", "/api/v1/tasks/batch", {
      tasks: requests.slice(i, i + AT_ONCE),
    });
    expect(body.results.filter(({ status }) => status !== 201)).toEqual([]);
  }
}

/** Reads the books in one snapshot, as a backup does. */
async function longReader(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: own.databaseUrl, application_name: LONG_READER });
  await client.connect();
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await client.query("SELECT count(*) FROM tasks");
  await client.query("SELECT count(*) FROM ended_tasks");
  return client;
}

async function untilMidnight(): Promise<void> {
  await eventually(
    async () => {
      const [row] = await rows<{ days: number }>(
        `SELECT count(DISTINCT ended_at AT TIME ZONE 'UTC' >= date_trunc('day', unacked_now() AT TIME ZONE 'UTC'))::int AS days FROM ended_tasks`,
      );
      expect(row?.days).toBe(2);
    },
    { what: "ends on both sides of midnight", timeoutMs: midnightInS * 2_000 },
  );
}

/** Its successor beside it has to look after what it left, and another one starts, on the new day. */
async function untilKilledBetweenCommitAndPublish(): Promise<void> {
  expect(await doomed.exited).toEqual({ code: null, signal: "SIGKILL" });
  await system.startManager({ speakTo: false });
}

/** Of what waits in the queue, and there is always some: `more` is created before each try. */
async function purge(more: () => Request[]): Promise<void> {
  const tookSome = async () => {
    const [row] = await rows<{ count: number }>(
      "SELECT count(*)::int AS count FROM tasks WHERE status = 'Sent' AND sent_at < now() - interval '3 seconds'",
    );
    expect(row?.count).toBeGreaterThan(0);
  };
  await eventually(
    async () => {
      await createAll(more());
      expect((await system.management.queue(TASK_QUEUE)).ready).toBeGreaterThan(0);
      await system.management.purge(TASK_QUEUE);
      await eventually(tookSome, { timeoutMs: 2_000 });
    },
    { what: "a purge that took something" },
  );
}

test.runIf(isTurnOf(0))(
  `${COUNT} tasks, one type one at a time, beside an alarm, a purge, a killed manager, ids created again, midnight and a snapshot of ${SNAPSHOT_S} s`,
  async () => {
    const massOf = (length: number) => Array.from({ length }, () => requestOf("work", { dir: tasks.dir, ms: MS }));
    const mass = massOf(COUNT);
    const spans = Array.from({ length: LIMITED }, () => requestOf("span", { dir: limited.dir, ms: 20 }));
    const toCancel = Array.from({ length: CANCELLED }, () => ({
      ...requestOf("work", { dir: tasks.dir, ms: MS }),
      priority: -1,
    }));
    await createAll([...spans, ...mass, ...toCancel]);
    const watch = await LongestTransaction.watch(own.databaseUrl);
    const lengths = new QueueLengths(system, "unacked.task-state").begin();
    const again = new CreatesAgain(system, own.databaseUrl, new Map([...spans, ...mass].map((one) => [one.id, one])));
    again.begin();
    const everyMs = (0.6 * (BEFORE_S + SNAPSHOT_S) * 1_000) / CANCELLED; // and what each takes
    const cancels = new Cancels(
      system,
      toCancel.map(({ id }) => id),
      everyMs,
    ).begin();
    await sleep(2_000); // all has its pace
    const before = await pgNow();
    await sleep(BEFORE_S * 1_000);

    const faults = await pgNow();
    const reader = await longReader();
    const snapshotMs = performance.now();
    await untilMidnight();
    await untilKilledBetweenCommitAndPublish();

    await memoryAlarm(own.dir, true);
    const alarmMs = performance.now();
    await sleep(ALARM_S * 1_000);
    const alarmEndMs = performance.now();
    await memoryAlarm(own.dir, false);
    await purge(() => {
      const more = massOf(100);
      mass.push(...more);
      return more;
    });
    await again.createAgain(mass.slice(0, 100)); // over since before midnight
    await sleep(Math.max(0, SNAPSHOT_S * 1_000 - (performance.now() - snapshotMs)));
    const held = Math.round((performance.now() - snapshotMs) / 1_000);
    const snapshotEnd = await pgNow();
    await reader.query("ROLLBACK");
    await reader.end();
    await cancels.end();
    await tasks.untilAllOver(FULL ? 900_000 : 120_000);
    await again.end();
    await lengths.end();
    const longest = await watch.end();

    const [claimed, claimedBefore] = [
      await claimTimes(own.databaseUrl, faults, snapshotEnd),
      await claimTimes(own.databaseUrl, before, faults),
    ];
    const cancelMs = cancels.tookMs.toSorted((a, b) => a - b);
    const cancelP99 = cancelMs[Math.floor(cancelMs.length * 0.99)] ?? Number.NaN;
    const inAlarm = lengths.between(alarmMs + 4_000, alarmEndMs);
    const [sentAgain] = await rows<{ count: number }>("SELECT count(*)::int AS count FROM ended_tasks WHERE sends > 1");
    process.stdout.write(
      [
        `claims before: ${claimTimesInWords(claimedBefore)}`,
        `claims beside the faults: ${claimTimesInWords(claimed)}`,
        `longest transaction: ${longest.ms} ms of ${longest.looks} looks (${longest.statement.replaceAll(/\s+/g, " ").slice(0, 120)}); a bare client's commit of nothing: ${longest.bareMs} ms at most`,
        `cancel: ${cancelMs.length}, ${cancelP99.toFixed(0)} ms (p99), ${cancelMs.at(-1)?.toFixed(0)} ms (most)`,
        `state queue in the alarm of ${ALARM_S} s, from its fifth second on: ${Math.max(...inAlarm)} at most, ${inAlarm.at(-1)} at its end`,
        `snapshot held for ${held} s; sent more than once: ${sentAgain?.count}`,
        `created again: ${JSON.stringify(Object.fromEntries(again.outcomes))}, ${again.moved} of them over by then\n`,
      ].join("\n"),
    );

    // Each once, and as it was asked for.
    const ended = await rows<{ id: string; status: string }>("SELECT id, status FROM ended_tasks");
    const byId = new Map(ended.map(({ id, status }) => [id, status]));
    expect(ended).toHaveLength(byId.size);
    expect(byId.size).toBe(mass.length + LIMITED + CANCELLED);
    expect([...spans, ...mass].filter(({ id }) => byId.get(id) !== "Completed")).toEqual([]);
    expect(cancels.cancelled).toHaveLength(CANCELLED);
    expect(cancels.cancelled.filter((id) => byId.get(id) !== "Cancelled")).toEqual([]);
    // By their own acts: nobody was killed who ran something.
    const runs = tasks.runs();
    expect(mass.filter(({ id }) => runs.get(id) !== 1)).toEqual([]);
    expect(cancels.cancelled.filter((id) => runs.has(id))).toEqual([]);
    const acts = readSpans(limited.dir);
    expect(acts).toHaveLength(LIMITED);
    expect(mostAtOnce(acts)).toBe(1);
    // Faults were what they are called.
    expect([...again.outcomes.keys()]).toEqual(["exists"]);
    expect(again.moved).toBeGreaterThan(100);
    expect(sentAgain?.count).toBeGreaterThan(0);
    expect(inAlarm.length).toBeGreaterThan(3);

    // Beyond what the machine took from a bare client meanwhile.
    expect(longest.ms, longest.statement).toBeLessThan(2_000 + longest.bareMs);
    expect(Math.max(...inAlarm)).toBe(0);
    expect(cancelP99).toBeLessThan(1_000 + longest.bareMs);
    expect(claimed.p50).toBeLessThan(2 * claimedBefore.p50 + NOISE_MS);
    const { items } = (await system.call<{ items: unknown[] }>("GET", "/api/v1/errors")).body;
    expect(items).toEqual([]);
  },
  FULL ? 2_400_000 : 240_000,
);
