import { setTimeout as sleep } from "node:timers/promises";
import type { OccurrencePage, OccurrenceView, ScheduleView, TaskView } from "@unacked/contracts";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR } from "../support/system/tasks.ts";

/** The crash table of docs/decisions/0016-schedules.md. */
let system: System;
const FULL = proves("schedules");

beforeEach(async () => {
  system = await freshSystem();
});
afterEach(() => system.close());

const put = (id: string, body: object) => system.call<ScheduleView>("PUT", `/api/v1/schedules/${id}`, body);
const get = async (id: string) => (await system.call<ScheduleView>("GET", `/api/v1/schedules/${id}`)).body;
const occurrences = async (id: string): Promise<OccurrenceView[]> =>
  (await system.call<OccurrencePage>("GET", `/api/v1/schedules/${id}/occurrences?limit=1000`)).body.items;

async function query<Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client(system.env.DATABASE_URL);
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}

/** PostgreSQL's clock, as whoever connects from now on sees it. */
async function setClock(at: string | number): Promise<void> {
  const shiftS = Math.round(((typeof at === "number" ? at : Date.parse(at)) - Date.now()) / 1_000);
  await query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET unacked.clock_shift = %L', current_database(), '${shiftS} seconds'); END $$`,
  );
}

/** Ten at a time, as a manager has so many connections to its database. */
async function putAll(ids: string[], body: object): Promise<void> {
  const left = [...ids];
  const worker = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) expect((await put(id, body)).status).toBe(201);
  };
  await Promise.all(Array.from({ length: 10 }, worker));
}

/** Kills one of two again and again, and starts another in its place. */
async function killInTurn(one: RunningProcess, until: () => boolean): Promise<number> {
  let kills = 0;
  let [next, other] = [one, await system.startManager({ speakTo: false })];
  while (!until()) {
    await sleep(1_500);
    await next.kill("SIGKILL");
    kills += 1;
    [next, other] = [other, await system.startManager({ speakTo: false })];
  }
  return kills;
}

interface Told {
  rows: number;
  times: number;
  tasks: number;
  joined: number;
  late: number;
}
/** All that the books have of them; `joined`: rows with their task, each of one row. */
async function account(prefix: string): Promise<Told> {
  const [told] = await query<Told>(
    `SELECT count(*)::int AS rows, count(DISTINCT (o.schedule_id, o.at))::int AS times,
            (SELECT count(*)::int FROM tasks WHERE type = $1) AS tasks, count(DISTINCT t.id)::int AS joined,
            max(o.late_ms)::int AS late
     FROM occurrences o LEFT JOIN tasks t ON t.id = o.task_id WHERE o.schedule_id LIKE $1 || '-%'`,
    [prefix],
  );
  return told as Told;
}

test.runIf(isTurnOf(1))(
  "Schedules of each second, and many that are due in the same minute, over two managers that are killed in turn: each time is exactly one row and one task",
  async () => {
    const [each, seconds, many] = FULL ? [1_000, 60, 10_000] : [100, 15, 1_000];
    const before = await system.startManager();
    const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
    const beginMs = Math.ceil(Date.now() / 1_000) * 1_000 + 3_600_000;
    const often = { overlap: "allow", catchUp: "all", catchUpMax: 1_000, keep: 1_000 };
    const startAt = new Date(beginMs).toISOString();
    const endAt = new Date(beginMs + seconds * 1_000).toISOString();
    await putAll(ids("often", each), { ...often, cron: "* * * * * *", startAt, endAt, task: { type: "often" } });
    await putAll(ids("once", many), {
      ...often,
      everyMs: 3_600_000,
      startAt,
      endAt: new Date(beginMs + 1).toISOString(),
      task: { type: "once" },
    });
    await before.kill("SIGKILL");
    await setClock(beginMs - 3_000); // all are there before they begin, however long that took
    const manager = await system.startManager();
    let isOver = false;
    const killing = killInTurn(manager, () => isOver);
    const untilOver = (type: string, count: number) =>
      eventually(async () => expect((await account(type)).rows).toBe(count), {
        timeoutMs: 240_000,
        what: `${count} of ${type}`,
      });
    await untilOver("once", many);
    await untilOver("often", each * seconds);
    isOver = true;
    const kills = await killing;
    const [once, told] = [await account("once"), await account("often")];
    console.log(
      `${each} each second for ${seconds} s, ${many} at once; ${kills} managers killed; latest ${told.late} ms, ${once.late} ms`,
    );
    const exactly = (count: number) => ({ rows: count, times: count, tasks: count, joined: count });
    expect(told).toMatchObject(exactly(each * seconds));
    expect(once).toMatchObject(exactly(many));
    expect(kills).toBeGreaterThan(0);
    const statuses = await query<{ status: string }>("SELECT DISTINCT status FROM occurrences");
    expect(statuses).toEqual([{ status: "started" }]);
    const left = await query(
      "SELECT id FROM schedules WHERE due_at IS NOT NULL OR occurrences <> (SELECT count(*) FROM occurrences o WHERE o.schedule_id = id)",
    );
    expect(left).toEqual([]);
  },
  FULL ? 900_000 : 300_000,
);

test.runIf(isTurnOf(2))(
  "A system that was stopped for three hours tells what was missed, and catches up as asked",
  async () => {
    const manager = await system.startManager();
    const body = { cron: "* * * * *", overlap: "allow", keep: 300, task: { type: "t" } };
    const policies = { none: {}, latest: {}, all: {}, window: { catchUp: "all", catchUpWindowMs: 3_600_000 } };
    for (const [id, more] of Object.entries(policies)) await put(id, { ...body, catchUp: id, ...more });
    await manager.kill("SIGKILL");
    const stoppedMs = Date.now();
    await setClock(stoppedMs + 3 * 3_600_000);
    await system.startManager();
    await eventually(async () => {
      for (const id of Object.keys(policies)) expect((await get(id)).missed).toBeGreaterThan(50);
    });
    for (const id of Object.keys(policies)) {
      const all = await occurrences(id);
      const of = (status: string, cause: string) => all.filter((one) => one.status === status && one.cause === cause);
      const [caught, missed, onTime] = [of("started", "catch-up"), of("missed", "time"), of("started", "time")];
      console.log(`${id}: ${missed.length} missed, ${caught.length} caught up, ${onTime.length} on time`);
      // Each minute of the three hours, once.
      expect(new Set(all.map(({ at }) => at)).size).toBe(all.length);
      expect(Math.abs(all.length - 180)).toBeLessThanOrEqual(2);
      expect(caught.length + missed.length + onTime.length).toBe(all.length);
      const [least, most] = { none: [0, 0], latest: [0, 1], all: [100, 100], window: [58, 60] }[id] ?? [];
      expect(caught.length).toBeGreaterThanOrEqual(least ?? 0);
      expect(caught.length).toBeLessThanOrEqual(most ?? 0);
      // Something is due again soon, and is not about the past.
      expect(Date.parse((await get(id)).nextAt ?? "")).toBeGreaterThan(stoppedMs + 3 * 3_600_000 - 60_000);
    }
    const reasons = new Set((await occurrences("window")).map(({ reason }) => reason));
    expect(reasons).toContain("catch-up-window");
    const metrics = await scrape(system.url);
    expect(metrics.value("unacked_manager_schedule_occurrences_total", { outcome: "missed" })).toBeGreaterThan(300);
    expect(metrics.value("unacked_schedules", { status: "Active" })).toBe(4);
  },
  240_000,
);

test.runIf(isTurnOf(2))(
  "While the task before runs, the next is skipped, waits for its end, takes its place, or runs beside it",
  async () => {
    await system.startManager();
    await system.startService("tasks", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "8" } });
    const dir = temporaryFolder("tasks");
    const define = (overlap: string, ms: number) =>
      put(overlap, { cron: "0 0 1 1 *", overlap, task: { type: "work", params: { dir, ms } } });
    const run = async (id: string) => (await system.call<OccurrenceView>("POST", `/api/v1/schedules/${id}/run`, {})).body;
    const taskOf = async (id: string | null) => (await system.call<TaskView>("GET", `/api/v1/tasks/${id}`)).body;
    const until = (id: string | null, status: TaskView["status"]) =>
      eventually(async () => expect((await taskOf(id)).status).toBe(status), {
        timeoutMs: 40_000,
        what: `${id} being ${status}`,
      });
    const LONG_MS = 50_000;

    await define("skip", LONG_MS);
    const [first, second] = [await run("skip"), await run("skip")];
    expect([first.status, second.status, second.reason]).toEqual(["started", "skipped", "overlap"]);

    await define("allow", LONG_MS);
    for (const { taskId } of [await run("allow"), await run("allow")]) await until(taskId, "Running");

    await define("cancel-running", LONG_MS);
    const before = await run("cancel-running");
    await until(before.taskId, "Running");
    const instead = await run("cancel-running");
    await until(before.taskId, "Cancelled");
    await until(instead.taskId, "Running");
    const cancels = await query("SELECT actor, authentication FROM audit WHERE deed = 'task.cancel'");
    expect(cancels).toEqual([{ actor: "cancel-running", authentication: "schedule" }]);

    await define("queue", 2_000);
    const asked = [await run("queue"), await run("queue"), await run("queue")];
    expect(asked.map(({ status }) => status)).toEqual(["started", "queued", "queued"]);
    await eventually(
      async () => expect((await occurrences("queue")).map((one) => one.taskStatus)).toEqual(Array(3).fill("Completed")),
      {
        timeoutMs: 40_000,
      },
    );
    const ran = await Promise.all((await occurrences("queue")).toReversed().map(({ taskId }) => taskOf(taskId)));
    for (const [i, task] of ran.entries())
      if (i > 0) expect(Date.parse(task.startedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(ran[i - 1]?.endedAt ?? ""));
    expect((await occurrences("queue")).toReversed().map(({ at }) => at)).toEqual(asked.map(({ at }) => at));

    // Sooner than one a second, so that a queue which has grown becomes shorter also where a time of it comes each second.
    await put("quick", { cron: "0 0 1 1 *", overlap: "queue", task: { type: "work", params: { dir, ms: 100 } } });
    for (let i = 0; i < 20; i += 1) await run("quick");
    await eventually(
      async () => expect((await occurrences("quick")).map((one) => one.taskStatus)).toEqual(Array(20).fill("Completed")),
      { timeoutMs: 40_000 },
    );
    const quick = await Promise.all((await occurrences("quick")).map(({ taskId }) => taskOf(taskId)));
    const tookMs = Date.parse(quick[0]?.endedAt ?? "") - Date.parse(quick.at(-1)?.startedAt ?? "");
    expect(tookMs).toBeLessThan(15_000);
  },
  240_000,
);

test.runIf(isTurnOf(0))(
  "Market hours pause and resume observers at the edge; what a person does holds until the next change, and a stop over an edge is made good",
  async () => {
    let manager = await system.startManager();
    await system.startService("service", { workers: 10 });
    const observe = async (name: string): Promise<string> => {
      const { status, body } = await system.create(name, {}, { labels: { market: "nyse" } });
      expect(status).toBe(201);
      return body.id;
    };
    const [a, b] = [await observe("a"), await observe("b")];
    await system.untilStatus([a, b], "Processing", 40_000);
    await manager.kill("SIGKILL");
    await setClock("2037-12-04T15:59:00-05:00"); // a Friday
    manager = await system.startManager();
    const answer = await put("market-hours", {
      hours: [{ days: ["mon", "tue", "wed", "thu", "fri"], from: "09:30", to: "16:00" }],
      timeZone: "America/New_York",
      observers: { filter: { labels: { market: "nyse" } } },
    });
    expect([answer.status, answer.body.nextAt]).toEqual([201, "2037-12-04T21:00:00.000Z"]);
    const ask = (what: "pause" | "resume", id: string) => system.call("POST", `/api/v1/observers/${id}/${what}`);
    const lastOf = async () => (await occurrences("market-hours"))[0];

    // The edge: 16:00.
    await system.untilStatus([a, b], "Paused", 150_000);
    expect(await lastOf()).toMatchObject({
      at: "2037-12-04T21:00:00.000Z",
      status: "started",
      observers: { wanted: "paused", changed: 2 },
    });
    const [paused] = await query<{ actor: string; authentication: string }>(
      "SELECT actor, authentication FROM audit WHERE deed = 'observer.pause'",
    );
    expect(paused).toEqual({ actor: "market-hours", authentication: "schedule" });

    // A person's override holds, though the schedule looks again: it pauses one that is new.
    expect([200, 202]).toContain((await ask("resume", a)).status);
    await system.untilStatus([a], "Processing", 40_000);
    const c = await observe("c");
    await system.untilStatus([c], "Paused", 90_000);
    expect((await system.get(a)).status).toBe("Processing");
    expect((await lastOf())?.observers).toEqual({ wanted: "paused", changed: 3 });

    // Nobody is there at Monday's opening.
    await manager.kill("SIGKILL");
    await setClock("2037-12-07T10:00:00-05:00");
    manager = await system.startManager();
    await system.untilStatus([a, b, c], "Processing", 90_000);
    expect(await lastOf()).toMatchObject({
      at: "2037-12-07T14:30:00.000Z",
      cause: "catch-up",
      observers: { wanted: "running", changed: 2 },
    });
    await eventually(async () => expect([200, 202]).toContain((await ask("pause", b)).status), { timeoutMs: 40_000 });
    await system.untilStatus([b], "Paused", 40_000);

    // Nor when it closes, and opens again: what holds now is done, the close is told as missed.
    await manager.kill("SIGKILL");
    await setClock("2037-12-08T12:00:00-05:00");
    await system.startManager();
    await system.untilStatus([a, b, c], "Processing", 90_000);
    const told = (await occurrences("market-hours"))
      .slice(0, 2)
      .map(({ at, status, observers }) => [at, status, observers?.wanted]);
    expect(told).toEqual([
      ["2037-12-08T14:30:00.000Z", "started", "running"],
      ["2037-12-07T21:00:00.000Z", "missed", "paused"],
    ]);
    expect(await get("market-hours")).toMatchObject({ wantedNow: "running", nextAt: "2037-12-08T21:00:00.000Z", missed: 1 });
  },
  600_000,
);
