import { PutSchedule } from "@unacked/contracts";
import { EntityManager } from "typeorm";
import { expect, onTestFinished, test, vi } from "vitest";
import { PostgresLevelStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-level-store.ts";
import { PostgresScheduleStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { PostgresScheduleFiringStore } from "../../services/observer-manager/src/adapters/postgres/schedules/schedule-firing-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { type Definition, definitionOf } from "../../services/observer-manager/src/domain/schedules/definition.ts";
import { decideDue, taskOf } from "../../services/observer-manager/src/operations/schedules/firing.ts";
import { LevelSetter } from "../../services/observer-manager/src/operations/schedules/level-setter.ts";
import { ScheduleDesk } from "../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, putObserver, SOMEBODY, shiftClock, useBooks } from "../support/servers/books.ts";
import { rowsReadBy, type Statement, statementsOf } from "../support/servers/rows-read.ts";

/* A schedule that caught up a thousand times with long params took a manager all of its memory, and then the next one. */

const books = useBooks("schedules, tasks, ended_tasks, task_services, audit");
const TIMES = 100; // 24 MB
const CHARS = 240_000;

const partsOf = (definition: Definition): string[] => [
  JSON.stringify(definition),
  JSON.stringify(definition.kind === "task" ? definition.task : {}),
];

/** By its own start: a multiple of a minute since 1970 may come at any moment of a test. */
const eachMinute = (given: object): PutSchedule =>
  PutSchedule.parse({ everyMs: 60_000, startAt: new Date(Date.now() - 1_000).toISOString(), ...given });

test("Of schedules with long params that are due at once 16 MiB are read, and then the others", async () => {
  await books.dataSource.query(
    `INSERT INTO schedules (id, kind, type, definition, next_at, due_at)
     SELECT 's' || n, 'task', 't', $1::jsonb || jsonb_build_object('task', $2::jsonb || jsonb_build_object('params', jsonb_build_object('text', repeat('x', $3)))),
            now() - interval '1 s', now() - interval '1 s' FROM generate_series(1, $4::int) n`,
    [...partsOf(definitionOf(eachMinute({ task: { type: "t" } }))), CHARS, TIMES],
  );
  const store = new PostgresScheduleFiringStore(books.dataSource);
  const read: number[] = [];
  for (let claimed = 1; claimed > 0; ) {
    ({ claimed } = await store.fire(500, (states, nowMs) => states.map((state) => decideDue(state, nowMs))));
    if (claimed > 0) read.push(claimed);
  }
  expect(read).toHaveLength(2);
  expect(Math.max(...read)).toBeLessThan(75);
  expect(await books.dataSource.query("SELECT id FROM tasks")).toHaveLength(TIMES);

  // As many whose time has been queued behind a task that is over by now.
  await books.dataSource.query("DELETE FROM tasks");
  await books.dataSource.query("UPDATE occurrences SET status = 'queued', task_id = NULL, open = false");
  const started: number[] = [];
  for (let claimed = 1; claimed > 0; ) {
    ({ claimed } = await store.startQueued(500, taskOf));
    if (claimed > 0) started.push(claimed);
  }
  expect(started).toEqual(read);
  expect(await books.dataSource.query("SELECT id FROM tasks")).toHaveLength(TIMES);
});

test("A look for what is queued reads a few rows of each schedule that waits, and none of the others", async () => {
  const query = (sql: string, parameters: unknown[] = []) => books.dataSource.query(sql, parameters);
  // Of the first hundred a thousand are queued each. The key of fifty is somebody else's, and of the others a task of each lane runs.
  await query(
    `INSERT INTO schedules (id, kind, type, definition)
     SELECT 's' || n, 'task', 't', jsonb_set($1::jsonb, '{task,key}', to_jsonb('k' || n)) FROM generate_series(1, 5000) n`,
    [JSON.stringify(definitionOf(eachMinute({ overlap: "queue", task: { type: "t" } })))],
  );
  await query(
    `INSERT INTO occurrences (schedule_id, at, status, cause, late_ms, version)
     SELECT 's' || n, now() + i * interval '1 s', 'queued', CASE WHEN i <= 500 THEN 'backfill' ELSE 'time' END, 0, 1
     FROM generate_series(1, 100) n, generate_series(1, 1000) i`,
  );
  await query(
    `INSERT INTO tasks (id, type, key, params, pool, priority, status, due_at)
     SELECT md5(n::text)::uuid, 't', CASE WHEN n <= 50 THEN 'k' || n END, '{}', 'default', 0, 'Ready', now()
     FROM generate_series(1, 20000) n`,
  );
  await query(
    `INSERT INTO occurrences (schedule_id, at, status, cause, late_ms, version, open, task_id)
     SELECT 's' || n, now() - i * interval '1 s', 'started', CASE i WHEN 1 THEN 'backfill' ELSE 'time' END, 0, 1, true,
            md5((n + i * 100)::text)::uuid
     FROM generate_series(51, 100) n, generate_series(1, 2) i`,
  );
  await query("ANALYZE occurrences, schedules, tasks");
  const store = new PostgresScheduleFiringStore(books.dataSource);
  let claimed = 0;
  const asked = await statementsOf(books, async () => {
    ({ claimed } = await store.startQueued(500, taskOf));
  });
  const look = asked.find(({ sql }) => sql.includes("FROM schedules s"));
  expect(await rowsReadBy(books, look as Statement)).toBeLessThan(2_000);
  expect(claimed).toBe(0);
});

const nothing = (): void => undefined;
const openDesk = (): ScheduleDesk =>
  new ScheduleDesk({
    store: new PostgresScheduleStore(books.dataSource),
    types: new PostgresTaskStore(books.dataSource),
    wake: nothing,
    wakeTasks: nothing,
    cancelled: nothing,
  });

test("What a schedule with long params catches up is created by statements of 16 MiB, and all of it", async () => {
  const desk = openDesk();
  const task = { type: "t", params: { text: "x".repeat(CHARS) } };
  await desk.putSchedule("s", eachMinute({ catchUp: "all", overlap: "allow", task }), SOMEBODY);
  await shiftClock(books, 60 * TIMES);
  const query = vi.spyOn(EntityManager.prototype, "query");
  onTestFinished(() => query.mockRestore());
  const store = new PostgresScheduleFiringStore(books.dataSource);
  const fired = await store.fire(10, (states, nowMs) => states.map((state) => decideDue(state, nowMs)));
  expect(fired).toMatchObject({ created: TIMES, putOff: [] });
  const tasks = await books.dataSource.query("SELECT id FROM tasks");
  const started = await books.dataSource.query("SELECT task_id AS id FROM occurrences WHERE status = 'started'");
  expect(tasks).toHaveLength(TIMES);
  expect(new Set(started.map(({ id }: { id: string }) => id))).toEqual(new Set(tasks.map(({ id }: { id: string }) => id)));
  const charsOf = (parameters: unknown): number => JSON.stringify(parameters ?? []).length;
  expect(Math.max(...query.mock.calls.map(([, parameters]) => charsOf(parameters)))).toBeLessThan(17_000_000);
});

test("A schedule brings many observers with long params to what it wants, and reads these of few", async () => {
  const params = { text: "x".repeat(CHARS) };
  for (let i = 0; i < TIMES; i++) await putObserver(books.dataSource, { status: "Paused", params });
  const hours = [{ from: "00:00", to: "24:00" }];
  await openDesk().putSchedule("s", PutSchedule.parse({ hours, observers: { filter: { pool: "default" } } }), SOMEBODY);
  const query = vi.spyOn(EntityManager.prototype, "query");
  onTestFinished(() => query.mockRestore());
  const setter = new LevelSetter({
    store: new PostgresLevelStore(books.dataSource),
    mayWant: () => true,
    committed: nothing,
    tally: { decided: nothing },
    log: keptLog(),
  });
  onTestFinished(() => setter.stop());
  setter.start();
  const resumed = "SELECT FROM observers WHERE status = 'Created'";
  await eventually(async () => expect(await books.dataSource.query(resumed)).toHaveLength(TIMES));
  await setter.stop();
  const sizes = query.mock.settledResults.map(({ value }) => JSON.stringify(value ?? null).length);
  expect(Math.max(...sizes)).toBeLessThan(17_000_000);
});
