import { PutSchedule } from "@unacked/contracts";
import { EntityManager } from "typeorm";
import { expect, onTestFinished, test, vi } from "vitest";
import { PostgresScheduleStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { PostgresScheduleFiringStore } from "../../services/observer-manager/src/adapters/postgres/schedules/schedule-firing-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/postgres-task-store.ts";
import { decideDue } from "../../services/observer-manager/src/operations/schedules/firing.ts";
import { ScheduleDesk } from "../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { SOMEBODY, shiftClock, useBooks } from "../support/servers/books.ts";

/* A schedule that caught up a thousand times with long params took a manager all of its memory, and then the next one. */

const books = useBooks("schedules, tasks, ended_tasks, task_services, audit");
const TIMES = 100; // 24 MB
const CHARS = 240_000;

test("What a schedule with long params catches up is created by statements of 16 MiB, and all of it", async () => {
  const desk = new ScheduleDesk({
    store: new PostgresScheduleStore(books.dataSource),
    types: new PostgresTaskStore(books.dataSource),
    wake: () => undefined,
    wakeTasks: () => undefined,
    cancelled: () => undefined,
  });
  const task = { type: "t", params: { text: "x".repeat(CHARS) } };
  await desk.putSchedule("s", PutSchedule.parse({ everyMs: 60_000, catchUp: "all", overlap: "allow", task }), SOMEBODY);
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
