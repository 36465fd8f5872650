import { randomUUID } from "node:crypto";
import { type OccurrenceView, PutSchedule, type RequestedRunId, type RunSchedule } from "@unacked/contracts";
import { beforeEach, expect, it, vi } from "vitest";
import type { z } from "zod";
import { PostgresScheduleStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { countSchedules } from "../../services/observer-manager/src/adapters/postgres/schedules/schedule-counts.ts";
import { PostgresScheduleFiringStore } from "../../services/observer-manager/src/adapters/postgres/schedules/schedule-firing-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { jitterOf } from "../../services/observer-manager/src/domain/schedules/times.ts";
import { decideDue, taskOf } from "../../services/observer-manager/src/operations/schedules/firing.ts";
import { ScheduleDesk } from "../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { SOMEBODY, shiftClock, useBooks } from "../support/servers/books.ts";

const books = useBooks("schedules, tasks, ended_tasks, task_services, audit");
const firing = () => new PostgresScheduleFiringStore(books.dataSource);
const desk = () =>
  new ScheduleDesk({
    store: new PostgresScheduleStore(books.dataSource),
    types: new PostgresTaskStore(books.dataSource),
    wake: () => undefined,
    wakeTasks: () => undefined,
    cancelled: () => undefined,
  });
const fire = (limit = 1_000) => firing().fire(limit, (states, nowMs) => states.map((state) => decideDue(state, nowMs)));
const startQueued = () => firing().startQueued(1_000, taskOf);
const MINUTE = { everyMs: 60_000, task: { type: "t", params: { a: 1 } } };
const HOUR_S = 3_600;
const MONTH_H = 720;
const put = (id: string, body: z.input<typeof PutSchedule> = MINUTE) =>
  desk().putSchedule(id, PutSchedule.parse({ startAt, ...body }), SOMEBODY);

/** A month ago and a second, for each test: a multiple of a minute since 1970 may come at any moment of one. */
let startAt: string;

beforeEach(async () => {
  await shift(0);
  startAt = new Date(Date.now() - MONTH_H * HOUR_S * 1_000 - 1_000).toISOString();
});

const shift = (seconds: number): Promise<void> => shiftClock(books, seconds);

interface Row {
  at: Date;
  status: string;
  cause: string;
  reason: string | null;
  task_id: string | null;
  open: boolean;
  earlier_missed: number;
}
const rowsOf = (id: string): Promise<Row[]> =>
  books.dataSource.query("SELECT * FROM occurrences WHERE schedule_id = $1 ORDER BY at", [id]);
const tasks = (): Promise<{ id: string; params: unknown; status: string; cancel_requested_at: Date | null }[]> =>
  books.dataSource.query("SELECT * FROM tasks ORDER BY created_at, id");
/** How many rows of each kind. */
const tell = (rows: Row[]): Record<string, number> => {
  const told: Record<string, number> = {};
  for (const { status, cause, reason } of rows) {
    const key = [status, ...(status === "missed" ? [] : [cause]), ...(reason === null ? [] : [reason])].join(" ");
    told[key] = (told[key] ?? 0) + 1;
  }
  return told;
};
const end = (id: string) => books.dataSource.query("DELETE FROM tasks WHERE id = $1", [id]);
const find = async (id: string) => (await desk().findSchedule(id)) ?? expect.fail("there is no such schedule");

it("One that is put while it is deleted again and again is created or replaced each time", async () => {
  const puts = Array.from({ length: 3 }, async () => {
    for (let i = 0; i < 40; i += 1) expect(await put("busy")).not.toHaveProperty("code");
  });
  let isOver = false;
  const deletes = Array.from({ length: 2 }, async () => {
    while (!isOver) await desk().deleteSchedule("busy", SOMEBODY);
  });
  await Promise.all(puts).finally(() => (isOver = true));
  await Promise.all(deletes);
});

it("A time is one row and one task, however many decide at once; the next one is later", async () => {
  for (let i = 0; i < 40; i += 1) await put(`s${i}`);
  await shift(60);
  const fired = await Promise.all(Array.from({ length: 4 }, () => fire(15)));
  for (let claimed = 1; claimed > 0; ) ({ claimed } = await fire());
  expect(fired.reduce((sum, { created }) => sum + created, 0)).toBeLessThanOrEqual(40);
  const rows = await books.dataSource.query("SELECT schedule_id, at, task_id FROM occurrences");
  expect(rows.length).toBe(40);
  expect(new Set(rows.map((row: { schedule_id: string }) => row.schedule_id)).size).toBe(40);
  expect((await tasks()).map(({ id }) => id).toSorted()).toEqual(rows.map((row: Row) => row.task_id).toSorted());
  expect((await fire()).claimed).toBe(0);
});

it("A transaction that is undone leaves what was due due, with no row and no task", async () => {
  await put("a");
  await shift(60);
  const { dataSource } = books;
  // As if the connection went at its last statement.
  const transaction = vi.spyOn(dataSource, "transaction").mockImplementation((async (
    work: (tx: object) => Promise<unknown>,
  ) => {
    const runner = dataSource.createQueryRunner();
    await runner.startTransaction();
    await work(runner.manager);
    await runner.rollbackTransaction();
    await runner.release();
    throw new Error("Connection terminated unexpectedly");
  }) as never);
  await expect(fire()).rejects.toThrow("Connection terminated");
  transaction.mockRestore();
  expect([await rowsOf("a"), await tasks()]).toEqual([[], []]);
  expect(await fire()).toMatchObject({ claimed: 1, created: 1 });
});

it("One that cannot be written is put off for a minute, says why, and is not in the way of the others", async () => {
  for (const id of ["a", "bad", "c"]) await put(id);
  await shift(60);
  const fireWithBad = () =>
    firing().fire(10, (states, nowMs) =>
      states.map((state) => {
        const decision = decideDue(state, nowMs);
        return state.id === "bad" ? { ...decision, plan: { nextMs: Number.NaN, dueMs: null, lastMs: null } } : decision;
      }),
    );
  expect(await fireWithBad()).toMatchObject({ claimed: 3, decided: 3, created: 2 });
  expect((await rowsOf("bad")).length).toBe(0);
  expect(await find("bad")).toMatchObject({ problem: "Invalid time value" });
  expect((await fireWithBad()).claimed).toBe(0);
  await shift(121);
  expect((await fire()).claimed).toBe(3);
  expect(tell(await rowsOf("bad"))).toMatchObject({ "started time": 1 });
  expect(await find("bad")).toMatchObject({ problem: null });
});

it("What is queued of one and cannot be started is not in the way of the others", async () => {
  for (const id of ["a", "bad", "c"]) await put(id, { ...MINUTE, overlap: "queue" });
  for (const seconds of [60, 120]) {
    await shift(seconds);
    await fire();
  }
  for (const { id } of await tasks()) await end(id);
  await books.dataSource.query("UPDATE schedules SET definition = definition - 'task' WHERE id = 'bad'");
  const store = firing();
  expect(await store.startQueued(1_000, taskOf)).toMatchObject({ claimed: 3, created: 2 });
  expect(await store.startQueued(1_000, taskOf)).toMatchObject({ claimed: 0, created: 0 });
});

it.each([
  ["started", undefined, 1],
  ["skipped", "overlap", 0],
  ["missed", "catch-up-none", 0],
] as const)(
  "A time that is %s stays so where the same is decided once more: it gets no other task",
  async (status, reason, count) => {
    await put("a", { ...MINUTE, overlap: "allow" });
    await shift(60);
    const first = await firing().fire(10, (states, nowMs) =>
      states.map((state) => {
        const decision = decideDue(state, nowMs);
        if (status === "started") return decision;
        const occurrences = decision.occurrences.map(({ task: _task, isOpen: _isOpen, ...rest }) => ({
          ...rest,
          status,
          reason,
        }));
        return { ...decision, occurrences };
      }),
    );
    expect(first).toMatchObject({ claimed: 1, created: count });
    const [rows, before] = [await rowsOf("a"), await tasks()];
    // As restored books, or a clock that was set back, would have it.
    await books.dataSource.query("UPDATE schedules SET next_at = o.at, due_at = o.at, last_at = NULL FROM occurrences o");
    expect(await fire()).toMatchObject({ claimed: 1, created: 0 });
    expect([await rowsOf("a"), await tasks()]).toEqual([rows, before]);
    expect(before).toHaveLength(count);
  },
);

it("The same content changes nothing; other times begin with the change; a pause is no occurrence, and the clock set back fires nothing twice", async () => {
  expect(await put("a")).toMatchObject({ kind: "created", schedule: { status: "Active", version: 1 } });
  expect(await put("a")).toMatchObject({ kind: "exists", schedule: { version: 1 } });
  await shift(60);
  await fire();
  const [first] = await rowsOf("a");
  expect(await put("a", { ...MINUTE, description: "other words" })).toMatchObject({
    kind: "replaced",
    schedule: { version: 2 },
  });
  expect(await desk().pauseSchedule("a", SOMEBODY)).toMatchObject({ status: "Paused", pausedBy: "somebody", nextAt: null });
  await shift(HOUR_S);
  expect((await fire()).claimed).toBe(0);
  await shift(-HOUR_S);
  const resumed = await desk().resumeSchedule("a", SOMEBODY);
  expect(resumed).toMatchObject({ status: "Active", nextAt: new Date((first?.at.getTime() ?? 0) + 60_000).toISOString() });
  expect((await fire()).claimed).toBe(0);
  expect((await rowsOf("a")).length).toBe(1);
  expect(await desk().deleteSchedule("a", SOMEBODY)).toEqual({ kind: "deleted" });
  expect(await desk().deleteSchedule("a", SOMEBODY)).toMatchObject({ code: "schedule-not-found" });
  expect([await rowsOf("a"), (await tasks()).length]).toEqual([[], 1]);
  const audit = await books.dataSource.query("SELECT deed, count(*)::int AS count FROM audit GROUP BY 1 ORDER BY 1");
  expect(audit).toEqual([
    { deed: "schedule.delete", count: 1 },
    { deed: "schedule.pause", count: 1 },
    { deed: "schedule.put", count: 2 },
    { deed: "schedule.resume", count: 1 },
  ]);
});

it("The same content is answered with it also while no service has its type; other content is refused", async () => {
  const body = { ...MINUTE, task: { type: "t", params: { a: [1, { b: null }] }, timeParam: "at" } };
  await put("a", body);
  await books.dataSource.query(
    `INSERT INTO task_services (id, generation, name, pool, workers, draining, types)
     VALUES (gen_random_uuid(), 1, 'another', 'default', 1, false, '[{"type":"other","paramsSchema":{}}]')`,
  );
  expect(await put("a", body)).toMatchObject({ kind: "exists", schedule: { version: 1 } });
  expect(await put("a", { ...body, overlap: "queue" })).toMatchObject({ code: "unknown-type" });
  expect(await put("b", body)).toMatchObject({ code: "unknown-type" });
});

it("Says of its last task how it stands now, and counts none that is over, before the next time is decided", async () => {
  await put("a");
  await shift(60);
  await fire();
  const [task] = await tasks();
  expect(await find("a")).toMatchObject({ running: 1, lastOccurrence: { taskId: task?.id, taskStatus: "Ready" } });
  await new PostgresTaskDays(books.dataSource).makeAhead();
  await books.dataSource.query(
    `INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, created_at, ended_at)
     SELECT id, type, params, pool, priority, 'Completed', due_at, 0, 0, 0, 1, created_at, now() FROM tasks`,
  );
  await end(task?.id ?? "");
  expect(await find("a")).toMatchObject({ running: 0, lastOccurrence: { taskStatus: "Completed" } });
  expect((await rowsOf("a")).map(({ open }) => open)).toEqual([true]);
  const { items } = await desk().listSchedules({ limit: 10 });
  expect(items).toMatchObject([{ running: 0, lastOccurrence: { taskStatus: "Completed" } }]);
});

it.each([
  ["none", {}, 180, { "missed catch-up-none": 180 }],
  ["latest", {}, 180, { "missed catch-up-latest": 179, "started catch-up": 1 }],
  ["all", {}, 180, { "missed catch-up-max": 80, "started catch-up": 100 }],
  ["all", { catchUpMax: 5 }, 180, { "missed catch-up-max": 175, "started catch-up": 5 }],
] as const)("A stop of three hours, catching up %s %j: what was missed is told", async (catchUp, more, total, told) => {
  await put("a", { ...MINUTE, catchUp, overlap: "allow", keep: 200, ...more });
  const at = Date.parse((await find("a")).nextAt ?? "");
  // Half a minute after the last one it is on time, and no matter of catching up; so the stop ends just before.
  await books.dataSource.query("UPDATE schedules SET next_at = $1, due_at = $1", [new Date(at - 60_000 * 181)]);
  await books.dataSource.query(
    "UPDATE schedules SET definition = jsonb_set(definition, '{timing,endAt}', to_jsonb($1::text))",
    [new Date(at - 60_000).toISOString()],
  );
  await shift(120);
  await fire();
  const rows = await rowsOf("a");
  expect(tell(rows)).toEqual(told);
  expect(rows.length).toBe(total);
  expect(await find("a")).toMatchObject({ status: "Over", missed: total - (await tasks()).length });
});

it("More missed times than are kept are told as a number", async () => {
  await put("a", { ...MINUTE, catchUp: "none", keep: 10 });
  await shift(3 * HOUR_S);
  await fire();
  const rows = (await rowsOf("a")).filter(({ status }) => status === "missed");
  expect(rows.length).toBe(10);
  const { missed } = await find("a");
  expect(missed).toBeGreaterThanOrEqual(178);
  expect(rows.map((row) => row.earlier_missed)).toEqual([missed - 10, ...Array(9).fill(0)]);
});

it.each([
  ["skip", { "started time": 1, "skipped time overlap": 2 }, 1],
  ["queue", { "started time": 1, "queued time": 2 }, 1],
  ["allow", { "started time": 3 }, 3],
  ["cancel-running", { "started time": 3 }, 3],
] as const)("While the task before is not over: %s", async (overlap, told, created) => {
  await put("a", { ...MINUTE, overlap });
  for (const minutes of [1, 2, 3]) {
    await shift(minutes * 60);
    await fire();
    await books.dataSource.query(
      "UPDATE tasks SET status = 'Running', send_id = gen_random_uuid(), run_id = gen_random_uuid()",
    );
    await startQueued();
  }
  expect(tell(await rowsOf("a"))).toEqual(told);
  const all = await tasks();
  expect(all.length).toBe(created);
  const cancelled = all.filter(({ cancel_requested_at: at }) => at !== null).length;
  expect(cancelled).toBe(overlap === "cancel-running" ? 2 : 0);
  for (const { id } of all) await end(id);
  await shift(240);
  await fire();
  await startQueued();
  const [, now] = await Promise.all([rowsOf("a"), tasks()]);
  expect(now.length).toBe(1);
});

it("What is queued starts one after the other, the oldest first, with the times of each", async () => {
  await put("a", { ...MINUTE, overlap: "queue", task: { type: "t", params: { a: 1 }, timeParam: "at" } });
  for (const minutes of [1, 2, 3]) {
    await shift(minutes * 60);
    await fire();
  }
  const times: unknown[] = [];
  for (let i = 0; i < 3; i += 1) {
    const [task, ...others] = await tasks();
    expect(others).toEqual([]);
    times.push((task?.params as { at: string } | undefined)?.at);
    expect((await startQueued()).created).toBe(0);
    await end(task?.id ?? "");
    await startQueued();
  }
  expect(times).toEqual((await rowsOf("a")).map(({ at }) => at.toISOString()));
  expect((await rowsOf("a")).map(({ status }) => status)).toEqual(["started", "started", "started"]);
});

/** As in books that have lost the last minutes: those of a backup, or of a standby that was behind. */
const lose = async (before: { next_at: Date; due_at: Date; last_at: Date | null }): Promise<void> => {
  await books.dataSource.query("DELETE FROM occurrences");
  await books.dataSource.query("DELETE FROM tasks");
  const { next_at, due_at, last_at } = before;
  await books.dataSource.query("UPDATE schedules SET next_at = $1, due_at = $2, last_at = $3", [next_at, due_at, last_at]);
};

it("Times that come again, as the books have lost them, have tasks of the same ids, in the order of their times", async () => {
  const body: Parameters<typeof put>[1] = { ...MINUTE, overlap: "queue", catchUp: "all" };
  const runAll = async () => {
    await fire();
    for (const _ of [1, 2, 3]) {
      for (const { id } of await tasks()) await end(id);
      await startQueued();
    }
    const rows = await rowsOf("a");
    expect(tell(rows)).toEqual({ "started catch-up": 2, "started time": 1 });
    return rows.map(({ at, task_id }) => [at, task_id]);
  };
  await put("a", body);
  const [before] = await books.dataSource.query("SELECT * FROM schedules");
  await shift(180);
  const first = await runAll();
  await lose(before);
  expect(await runAll()).toEqual(first);
  expect(first.map(([, id]) => id)).toEqual(first.map(([, id]) => id).toSorted());
  // A schedule that is made again is another.
  await desk().deleteSchedule("a", SOMEBODY);
  await shift(0);
  await put("a", body);
  await shift(180);
  const other = await runAll();
  expect(other.map(([at]) => at)).toEqual(first.map(([at]) => at));
  expect(other.filter(([, id]) => first.some(([, known]) => known === id))).toEqual([]);
});

it("Run now with an id of one's own is made once, however often it is asked for, and is remembered for a day", async () => {
  await put("a", { ...MINUTE, overlap: "queue", keep: 1 });
  const id = randomUUID() as RequestedRunId;
  const ask = (more: RunSchedule = {}) => desk().runSchedule("a", { id, ...more }, SOMEBODY);
  const [first, ...others] = await Promise.all([ask(), ask(), ask()]);
  expect(first).toMatchObject({ status: "started", cause: "manual" });
  for (const other of others) expect(other).toEqual(first);
  // It would be queued behind the first one.
  const behind = randomUUID() as RequestedRunId;
  const queued = await ask({ id: behind });
  expect(queued).toMatchObject({ status: "queued" });
  expect(await ask({ id: behind })).toEqual(queued);
  expect(await ask({ overlap: "allow" })).toMatchObject({ code: "id-taken" });
  expect([(await rowsOf("a")).length, (await tasks()).length]).toEqual([2, 1]);
  await put("b", MINUTE);
  expect(await desk().runSchedule("b", { id }, SOMEBODY)).toMatchObject({ status: "started" });
  const over = randomUUID() as RequestedRunId;
  const { at } = (await ask({ id: over, overlap: "allow" })) as OccurrenceView; // not open: it does not count for `overlap`
  const runMore = async () => {
    for (let i = 0; i < 12; i += 1) await desk().runSchedule("a", { overlap: "allow" }, SOMEBODY);
  };
  await runMore();
  expect(await ask()).toMatchObject({ at: (first as OccurrenceView).at });
  expect(await ask({ id: over, overlap: "allow" })).toMatchObject({ at });
  await shift(25 * 3_600);
  await runMore();
  expect(await ask({ id: over, overlap: "allow" })).not.toMatchObject({ at });
});

it("Run now is a row of its own, marked as asked for; a backfill starts what was missed, names its expression, and is safe to repeat", async () => {
  await put("a", { ...MINUTE, catchUp: "none", overlap: "allow" });
  await shift(600);
  await fire();
  const missed = (await rowsOf("a")).filter(({ status }) => status === "missed").length;
  expect(missed).toBeGreaterThan(7);
  const runs = await Promise.all([1, 2, 3].map(() => desk().runSchedule("a", {}, SOMEBODY)));
  for (const run of runs) expect(run).toMatchObject({ status: "started", cause: "manual", by: "somebody" });
  const before = (await tasks()).length;
  const asked = { from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z", dryRun: false };
  expect(await desk().backfillSchedule("a", asked, SOMEBODY)).toMatchObject({
    code: "invalid-body",
    errors: [{ pointer: "/to" }],
  });
  const from = (await rowsOf("a"))[0]?.at.toISOString() ?? "";
  const dry = await desk().backfillSchedule("a", { ...asked, from, dryRun: true }, SOMEBODY);
  expect([dry, (await tasks()).length]).toEqual([expect.objectContaining({ started: missed }), before]);
  const done = await desk().backfillSchedule("a", { ...asked, from }, SOMEBODY);
  expect(done).toMatchObject({ everyMs: 60_000, cron: null, version: 1, started: missed, queued: 0, skipped: 0 });
  expect((await tasks()).length).toBe(before + missed);
  expect(await desk().backfillSchedule("a", { ...asked, from }, SOMEBODY)).toMatchObject({ started: 0 });
  expect((await tasks()).length).toBe(before + missed);
});

it("A backfill of more times than are kept is safe to repeat all the same", async () => {
  await put("a", { ...MINUTE, keep: 5, overlap: "allow" });
  const [from, to] = [7_200_000, 3_600_000].map((agoMs) => new Date(Date.now() - agoMs).toISOString()) as [string, string];
  const asked = { from, to, dryRun: false };
  const first = await desk().backfillSchedule("a", asked, SOMEBODY);
  expect(first).toMatchObject({ times: 60, started: 60, alreadyStarted: 0 });
  expect(await desk().backfillSchedule("a", asked, SOMEBODY)).toMatchObject({ started: 0, alreadyStarted: 60 });
  expect((await tasks()).length).toBe(60);
});

it("A backfill says how many have started, and not how many were to: what its key keeps from it is skipped", async () => {
  await put("keyed", { ...MINUTE, overlap: "allow", task: { type: "t", key: "one" } });
  const [from, to] = [7_200_000, 7_020_000].map((agoMs) => new Date(Date.now() - agoMs).toISOString()) as [string, string];
  const told = await desk().backfillSchedule("keyed", { from, to, dryRun: false }, SOMEBODY);
  expect(tell(await rowsOf("keyed"))).toEqual({ "started backfill": 1, "skipped backfill key-taken": 2 });
  expect(told).toMatchObject({ times: 3, started: 1, queued: 0, skipped: 2, alreadyStarted: 0 });
  expect(await desk().backfillSchedule("keyed", { from, to, dryRun: false }, SOMEBODY)).toMatchObject({
    started: 0,
    skipped: 2,
    alreadyStarted: 1,
  });
});

/** Of so many minutes, two days ago. */
const backfillOf = (id: string, minutes: number) => {
  const fromMs = Date.now() - 48 * HOUR_S * 1_000;
  const [from, to] = [fromMs, fromMs + minutes * 60_000].map((ms) => new Date(ms).toISOString()) as [string, string];
  return desk().backfillSchedule(id, { from, to, dryRun: false }, SOMEBODY);
};

it.each([
  ["skip", { "started time": 1, "skipped time overlap": 1 }],
  ["queue", { "started time": 1, "queued time": 1 }],
  ["cancel-running", { "started time": 2 }],
] as const)("Beside a backfill a schedule goes on as if it were not there: %s", async (overlap, told) => {
  await put("a", { ...MINUTE, overlap });
  expect(await backfillOf("a", 3)).toMatchObject({ started: 1, queued: 2 });
  const [backfilled] = await tasks();
  for (const minutes of [1, 2]) {
    await shift(minutes * 60);
    await fire();
  }
  expect(tell(await rowsOf("a"))).toEqual({ "started backfill": 1, "queued backfill": 2, ...told });
  expect((await tasks()).find(({ id }) => id === backfilled?.id)).toMatchObject({ status: "Ready" });
});

it("What is queued by time, and what a backfill has queued, start by turns of their own; so many of each are queued at most", async () => {
  await put("a", { ...MINUTE, overlap: "queue" });
  expect(await backfillOf("a", 1_000)).toMatchObject({ started: 1, queued: 999 });
  const more = {
    from: new Date(Date.now() - 400_000_000).toISOString(),
    to: new Date(Date.now() - 399_880_000).toISOString(),
  };
  expect(await desk().backfillSchedule("a", { ...more, dryRun: false }, SOMEBODY)).toMatchObject({ queued: 1, skipped: 1 });
  for (const minutes of [1, 2, 3]) {
    await shift(minutes * 60);
    await fire();
  }
  const started = { "started backfill": 1, "started time": 1 };
  expect(tell(await rowsOf("a"))).toMatchObject({ ...started, "queued time": 2 });
  expect((await startQueued()).created).toBe(0);
  const openOf = async (cause: string) => (await rowsOf("a")).filter((row) => row.open && row.cause === cause);
  await end((await openOf("time"))[0]?.task_id ?? "");
  await startQueued();
  expect(tell(await rowsOf("a"))).toMatchObject({ ...started, "started time": 2, "queued time": 1 });
  for (const cause of ["time", "backfill"]) await end((await openOf(cause))[0]?.task_id ?? "");
  await startQueued();
  expect(tell(await rowsOf("a"))).toMatchObject({ "started time": 3, "started backfill": 2, "queued backfill": 999 });
});

const KEYED = { ...MINUTE, task: { type: "t", key: "one" } };
/** Until nothing is queued: one task after the other. @returns the causes, in the order in which they have started */
const runAll = async (id: string): Promise<string[]> => {
  const ran: string[] = [];
  for (let [task, ...others] = await tasks(); task !== undefined; [task, ...others] = await tasks()) {
    expect(others).toEqual([]);
    expect((await startQueued()).claimed).toBe(0);
    ran.push((await rowsOf(id)).find((row) => row.task_id === task?.id)?.cause ?? "somebody else's");
    await end(task.id);
    await startQueued();
  }
  return ran;
};

it("With a key a backfill waits for what runs by time, and loses nothing", async () => {
  await put("k", { ...KEYED, overlap: "queue" });
  await shift(60);
  await fire();
  expect(await backfillOf("k", 100)).toMatchObject({ started: 0, queued: 100, skipped: 0 });
  for (let i = 0; i < 3; i += 1) expect(await startQueued()).toMatchObject({ claimed: 0, created: 0 });
  expect(tell(await rowsOf("k"))).toEqual({ "started time": 1, "queued backfill": 100 });
  expect(await runAll("k")).toEqual(["time", ...Array(100).fill("backfill")]);
  expect(tell(await rowsOf("k"))).toEqual({ "started time": 1, "started backfill": 100 });
});

it.each([
  ["queue", { "queued time": 5 }, ["backfill", ...Array(5).fill("time"), ...Array(9).fill("backfill")]],
  ["skip", { "skipped time key-taken": 5 }, Array(10).fill("backfill")],
] as const)(
  "With a key what comes by time beside a backfill, with %s, waits or says why not",
  async (overlap, told, ran) => {
    await put("r", { ...KEYED, overlap });
    expect(await backfillOf("r", 10)).toMatchObject({ started: 1, queued: 9 });
    for (const minutes of [1, 2, 3, 4, 5]) {
      await shift(minutes * 60);
      await fire();
    }
    expect(tell(await rowsOf("r"))).toEqual({ "started backfill": 1, "queued backfill": 9, ...told });
    // What goes on by time goes before the backfill.
    expect(await runAll("r")).toEqual(ran);
  },
);

it("What is queued waits for a key that somebody else's task has, and so does what comes then", async () => {
  await put("q", { ...KEYED, overlap: "queue" });
  await put("other", { ...KEYED, overlap: "queue" });
  expect(await desk().runSchedule("other", {}, SOMEBODY)).toMatchObject({ status: "started" });
  for (const minutes of [1, 2]) {
    await shift(minutes * 60);
    await fire();
  }
  expect(tell(await rowsOf("q"))).toEqual({ "queued time": 2 });
  await desk().pauseSchedule("other", SOMEBODY);
  expect(await runAll("q")).toEqual(["somebody else's", "time", "time"]);
});

it("A key that is taken skips, with the other; what the database refuses harms only itself", async () => {
  await put("key", { ...MINUTE, overlap: "allow", task: { type: "t", key: "one" } });
  await put("bad", { ...MINUTE, task: { type: "t", timeParam: "at" } });
  // As no request could leave it.
  await books.dataSource.query(
    "UPDATE schedules SET definition = jsonb_set(definition, '{task,priority}', '3000000000') WHERE id = 'bad'",
  );
  await put("good");
  for (const minutes of [1, 2]) {
    await shift(minutes * 60);
    await fire();
  }
  expect((await rowsOf("key")).map(({ status, reason, task_id: task }) => [status, reason, task !== null])).toEqual([
    ["started", null, true],
    ["skipped", "key-taken", true],
  ]);
  expect(tell(await rowsOf("bad"))).toEqual({ "skipped time refused": 2 });
  expect(tell(await rowsOf("good"))).toEqual({ "started time": 1, "skipped time overlap": 1 });
});

it("Occurrences are kept by count, but for what is not over", async () => {
  await put("a", { ...MINUTE, keep: 5, overlap: "allow" });
  for (let i = 1; i <= 40; i += 1) {
    await shift(i * 60);
    await fire();
  }
  const rows = await rowsOf("a");
  expect(rows.length).toBeGreaterThanOrEqual(5);
  expect(rows.length).toBeLessThanOrEqual(16);
  expect((await tasks()).length).toBe(40);
});

it("An expression that cannot be read any more says so, and is tried again each minute; the others go on", async () => {
  await put("odd");
  await put("good");
  const zone = { cron: "* * * * *", timeZone: "Gone/Zone" };
  await books.dataSource.query(
    "UPDATE schedules SET definition = jsonb_set(definition, '{timing,rhythm}', $1) WHERE id = 'odd'",
    [JSON.stringify(zone)],
  );
  await shift(60);
  expect(await fire()).toMatchObject({ claimed: 2, decided: 2, created: 1 });
  const odd = await find("odd");
  expect([odd.status, odd.problem]).toEqual(["Active", expect.stringContaining("Gone/Zone")]);
  expect((await fire()).claimed).toBe(0);
  // Each try puts it off, and is none of its times: it is late since the first of these.
  await shift(240);
  await fire();
  expect((await countSchedules(books.dataSource)).oldestDueS).toBeGreaterThanOrEqual(180);
  await desk().pauseSchedule("odd", SOMEBODY);
  expect((await countSchedules(books.dataSource)).oldestDueS).toBe(0);
  await put("odd", { ...MINUTE, description: "mended" });
  expect((await find("odd")).problem).toBeNull();
});

it("What was due and is changed before anybody decides is told as missed; with the same times it is as due as before", async () => {
  await put("a");
  await shift(180);
  const { nextAt } = await find("a");
  expect((await put("a", { ...MINUTE, description: "the same times" })) as object).toMatchObject({ schedule: { nextAt } });
  expect(await rowsOf("a")).toEqual([]);
  await put("a", { ...MINUTE, everyMs: 120_000 });
  const rows = await rowsOf("a");
  expect(rows.length).toBeGreaterThanOrEqual(2);
  expect(tell(rows)).toEqual({ "missed changed": rows.length });
});

it("The next times begin with the one that the planned time has become, unless something was decided about it", async () => {
  await put("a", { ...MINUTE, everyMs: HOUR_S * 1_000 });
  const inHours = (count: number, moreMs = 0) =>
    new Date(Date.parse(startAt) + (MONTH_H + count) * HOUR_S * 1_000 + moreMs).toISOString();
  const planned = inHours(1, 600_000); // by rules that hold no more
  await books.dataSource.query("UPDATE schedules SET next_at = $1", [planned]);
  const times = [{ at: inHours(1), dueAt: planned }, { at: inHours(2) }];
  expect(await desk().nextTimes("a", { n: 2 })).toMatchObject({ times });
  await books.dataSource.query("UPDATE schedules SET last_at = $1", [inHours(1)]);
  expect(await desk().nextTimes("a", { n: 1 })).toMatchObject({ times: [{ at: inHours(2) }] });
});

it("A time that has come and waits for its jitter is told as missed where the schedule is paused or changed, and a backfill starts it", async () => {
  const everyMs = HOUR_S * 1_000;
  const nowS = Date.now() / 1_000;
  const at = new Date(Date.parse(startAt) + (MONTH_H + 1) * everyMs);
  const ids = Array.from({ length: 100 }, (_, i) => `a${i}`).filter((id) => jitterOf(id, at.getTime(), everyMs) > 1_800_000);
  const [paused = "", changed = ""] = ids;
  const body = { ...MINUTE, everyMs, jitterMs: everyMs };
  for (const id of [paused, changed]) await put(id, body);
  await shift(at.getTime() / 1_000 + 600 - nowS);
  await fire();
  const { nextDueAt: dueAt } = await find(paused);
  expect(await desk().nextTimes(paused, { n: 1 })).toMatchObject({ times: [{ at: at.toISOString(), dueAt }] });
  await desk().pauseSchedule(paused, SOMEBODY);
  await desk().resumeSchedule(paused, SOMEBODY);
  await put(changed, { ...body, jitterMs: 1_000 });
  const nextAt = new Date(at.getTime() + everyMs).toISOString();
  for (const id of [paused, changed]) {
    expect(await rowsOf(id)).toMatchObject([{ at, status: "missed", reason: "changed" }]);
    expect(await find(id)).toMatchObject({ nextAt, missed: 1 });
  }
  const backfilled = await desk().backfillSchedule(paused, { from: at.toISOString(), to: nextAt, dryRun: false }, SOMEBODY);
  expect(backfilled).toMatchObject({ times: 1, started: 1 });
});

it("Of more times than are kept that wait for their jitter the others are told as a number, too", async () => {
  const jitterMs = HOUR_S * 1_000;
  const nextMs = Date.now() + HOUR_S * 1_000;
  // The first of them has a long one, so that all behind it wait.
  const startMs = nextMs - (nextMs % 1_000);
  const id =
    Array.from({ length: 1_000 }, (_, i) => `j${i}`).find((one) => jitterOf(one, startMs, jitterMs) > 1_800_000) ?? "";
  await put(id, { ...MINUTE, everyMs: 10_000, jitterMs, keep: 5, startAt: new Date(startMs).toISOString() });
  await shift(HOUR_S + 605);
  await fire();
  await desk().pauseSchedule(id, SOMEBODY);
  const rows = await rowsOf(id);
  expect(tell(rows)).toEqual({ "missed changed": 5 });
  const { missed } = await find(id);
  expect(missed).toBeGreaterThanOrEqual(60);
  expect(rows.map((row) => row.earlier_missed)).toEqual([missed - 5, 0, 0, 0, 0]);
});

it("What cannot be read here any more is told as that, and may be put again", async () => {
  await put("moved", { cron: "0 9 * * *", timeZone: "Europe/Kyiv", task: { type: "t" } });
  await desk().pauseSchedule("moved", SOMEBODY);
  const lose = "UPDATE schedules SET definition = replace(definition::text, 'Europe/Kyiv', 'Europe/Nowhere')::jsonb";
  await books.dataSource.query(lose);
  const unreadable = { code: "schedule-unreadable", detail: expect.stringContaining("Europe/Nowhere") };
  const stretch = { from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", dryRun: true };
  expect(await desk().resumeSchedule("moved", SOMEBODY)).toMatchObject(unreadable);
  expect(await desk().runSchedule("moved", {}, SOMEBODY)).toMatchObject(unreadable);
  expect(await desk().backfillSchedule("moved", stretch, SOMEBODY)).toMatchObject(unreadable);
  expect(await desk().nextTimes("moved", { n: 3 })).toMatchObject(unreadable);
  expect(await put("moved", { cron: "0 9 * * *", timeZone: "Europe/Kyiv", task: { type: "t" } })).toMatchObject({
    kind: "replaced",
  });
  expect(await desk().nextTimes("moved", { n: 3 })).toMatchObject({ times: { length: 3 } });
});

it("A run by hand cannot cancel the one before where both have one key", async () => {
  await put("keyed", { everyMs: 60_000, task: { type: "t", key: "one" } });
  const refused = await desk().runSchedule("keyed", { overlap: "cancel-running" }, SOMEBODY);
  expect(refused).toMatchObject({ code: "invalid-body", errors: [{ pointer: "/overlap" }] });
  expect(await tasks()).toEqual([]);
});
