import { beforeEach, expect, test } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { countTasks } from "../../services/observer-manager/src/adapters/postgres/tasks/figures/task-counts.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* Tasks that an application has created by SQL, due at times that no manager writes: they hide no others, and hold none up. */

const { books, manager } = useHttpManager({ emptied: "tasks, task_services, task_types" });

const BEYOND = { ever: "-infinity", late: "292026-01-01" };
const types = ["work", ...Object.keys(BEYOND)];

beforeEach(async () => {
  await putTaskService(books.dataSource, { types });
  await putReady(books.dataSource, 1);
  for (const [type, time] of Object.entries(BEYOND))
    await books.dataSource.query(
      `INSERT INTO tasks (id, type, params, pool, priority, due_at, status)
       VALUES (gen_random_uuid(), $1, '{}', 'default', 0, $2::timestamptz, 'Ready')`,
      [type, time],
    );
});

test("All lists and figures are told where some are due at such a time", async () => {
  const { body: list } = await manager.call("GET", "/api/v1/tasks");
  expect(list.items.map((item: { type: string }) => item.type).toSorted()).toEqual(types.toSorted());
  for (const path of ["task-figures", "task-figures?by=hour", "task-types", "task-failures", "stats"]) {
    const answer = await manager.call("GET", `/api/v1/${path}`);
    expect(answer.status, `${path}: ${answer.text}`).toBe(200);
  }
  const { pools } = await countTasks(books.dataSource);
  expect(pools).toMatchObject([{ pool: "default", oldestReadyS: expect.any(Number) }]);
  expect(pools[0]?.oldestReadyS).toBeLessThan(60);
});

test("What is due at such a time is claimed in its turn, and the others with it", async () => {
  const { status } = await manager.call("GET", "/api/v1/tasks");
  expect(status).toBe(200);
  const queue = new PostgresTaskQueueStore(books.dataSource);
  await queue.outlook();
  await queue.promoteDue(10);
  const { tasks } = await queue.claim("default", { window: 10, workers: 10, types });
  expect(tasks.map(({ task }) => task.type).toSorted()).toEqual(types.toSorted());
});

test("Nobody creates one that is due at such a time, also not by a clock of his own", async () => {
  const pick = (shift: string) => `SET LOCAL unacked.clock_shift = '${shift}'`;
  for (const shift of ["200000 years", "-3000 years"]) {
    const dueAt = await books.dataSource.transaction(async (tx) => {
      await tx.query(pick(shift));
      await tx.query("SELECT unacked_create_task('work')");
      const [{ year }] = await tx.query(
        "SELECT extract(year FROM max(due_at) AT TIME ZONE 'UTC')::int AS year FROM tasks WHERE type = 'work'",
      );
      return year as number;
    });
    expect(dueAt, shift).toBeGreaterThanOrEqual(1);
    expect(dueAt, shift).toBeLessThanOrEqual(9999);
  }
});

test("A pool in which none may start has none that waits to", async () => {
  await books.dataSource.query("INSERT INTO task_types (type, min_running, paused) VALUES ('held-back', 0, true)");
  await books.dataSource.query(
    `INSERT INTO tasks (id, type, params, pool, priority, due_at, status)
     VALUES (gen_random_uuid(), 'held-back', '{}', 'held', 0, now() - interval '1 hour', 'Ready')`,
  );
  const { pools } = await countTasks(books.dataSource);
  expect(pools.find(({ pool }) => pool === "held")).toMatchObject({ oldestReadyS: 0 });
});
