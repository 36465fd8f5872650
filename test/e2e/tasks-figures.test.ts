import type { TaskFigures, TaskFiguresNow } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

const ENV = { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "10" };
const TYPE = "work";

let system: System;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await Promise.all(["worker-1", "worker-2"].map((name) => system.startService(name, { env: ENV })));
});
afterAll(() => system.close());

const totals = async (by: "minute" | "hour") => {
  const { body } = await system.call<TaskFigures>("GET", `/api/v1/task-types/${TYPE}/figures?by=${by}`);
  const sum = (of: (item: TaskFigures["items"][number]) => number) =>
    body.items.reduce((total, item) => total + of(item), 0);
  return {
    created: sum((item) => item.created),
    completed: sum((item) => item.completed),
    failed: sum((item) => item.failed),
    cancelled: sum((item) => item.cancelled),
  };
};

test.runIf(isTurnOf(0))(
  "figures are exact, though managers and services are killed while they are kept and folded",
  {
    timeout: 360_000,
  },
  async () => {
    const tasks = new Tasks(system);
    const second = await system.startManager({ speakTo: false });
    await tasks.createMany(1_000, { ms: 5 });
    await tasks.createMixed(Array.from({ length: 100 }, () => ({ failures: 1 })));
    await tasks.createMixed(Array.from({ length: 50 }, () => ({ isFinal: true })));
    await second.kill("SIGKILL");
    await system.service("worker-1").kill("SIGKILL");
    await tasks.createMany(1_000, { ms: 5 });
    const first = system.managers[0] ?? expect.fail("there is no manager");
    const third = await system.startManager({ speakTo: false });
    await eventually(() => expect(tasks.runs().size).toBeGreaterThan(1_200));
    await first.kill("SIGKILL");
    system.url = String((await third.waitForEvent("listening")).url);
    await system.startService("worker-1", { env: ENV });
    const { id } = await tasks.create({}, { startAt: new Date(Date.now() + 3_600_000).toISOString() });
    await system.call("DELETE", `/api/v1/tasks/${id}`);
    await tasks.untilAllOver(120_000);
    const books = await queryRows<{ status: string; count: number }>(
      system.env.DATABASE_URL as string,
      "SELECT status, count(*)::int AS count FROM ended_tasks GROUP BY 1",
    );
    const of = (status: string): number => books.find((row) => row.status === status)?.count ?? 0;
    const exact = { created: 2_151, completed: of("Completed"), failed: of("Failed"), cancelled: of("Cancelled") };
    expect(exact.completed + exact.failed + exact.cancelled).toBe(2_151);
    expect(await totals("minute")).toEqual(exact);
    expect(await totals("hour")).toEqual(exact);
    console.log(`exact over two killed managers and a killed service: ${JSON.stringify(exact)}`);
    // And when all of it is folded.
    await eventually(
      async () => expect(await queryRows(system.env.DATABASE_URL as string, "SELECT FROM task_figure_deltas")).toEqual([]),
      { timeoutMs: 20_000 },
    );
    expect(await totals("minute")).toEqual(exact);
  },
);

test("running times are those of the handlers, and the command line tells how each type goes", async () => {
  const tasks = new Tasks(system);
  await tasks.createMany(40, { ms: 400 });
  await tasks.untilAllOver();
  // A service that was killed counts for 20 s as one that may be back.
  const work = await eventually(
    async () => {
      const { body } = await system.call<TaskFiguresNow>("GET", "/api/v1/task-figures?by=hour");
      expect(body.pools).toEqual([{ pool: "default", workers: 20, loadPercent: expect.any(Number) }]);
      const found = body.items.find(({ type }) => type === "work");
      // Read by a statement of its own: the twenty seconds may be over between the two.
      expect(found).toMatchObject({ waiting: 0, running: 0, workers: 20, oldestDueAt: null });
      return found ?? expect.fail("work is not told of");
    },
    { timeoutMs: 30_000 },
  );
  expect(work.lately.p95Ms).toBeLessThan(2_000);
  const { out } = await runCli(["get", "task-figures"], { env: { UNACKED_URL: system.url }, cwd: ROOT });
  expect(out).toMatch(/^TYPE +WAITING +OLDEST +RUNNING +WORKERS +LOAD +CREATED +DONE +FAILED +MEAN +P95/m);
  expect(out).toMatch(/^work +0 +- +0 +20 +\d+% /m);
});
