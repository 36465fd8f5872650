import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskView } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mostInASecond } from "../support/acts/rates.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows, runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { HANDLER_TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let tasks: Tasks;
const ENV = {
  OBSERVERS_DIR: HANDLER_TASKS_DIR,
  TASK_WORKERS: "2",
  STOP_TIMEOUT_MS: "1000",
  STUCK_MS: "30000",
  SLOT_MEMORY_MB: "160",
};
const SIZE = 50;

beforeEach(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("worker-1", { env: ENV });
  // What goes together is looked up four times a second: who creates in the very moment of a service's birth may have it sent singly.
  await eventually(async () => {
    tasks = new Tasks(system);
    const [first = ""] = await gather(many(2));
    await tasks.untilAllOver();
    expect(callsOf(first)[0]?.ids).toHaveLength(2);
  });
  tasks = new Tasks(system);
});
afterEach(() => system.close());

interface Call {
  ids: string[];
  atMs: number;
  overMs: number | undefined;
  aborted: string[];
}

/** What the handler was given, call by call. */
function calls(): Call[] {
  const found = new Map<string, Call>();
  for (const file of readdirSync(tasks.dir).filter((name) => name.endsWith(".calls")))
    for (const line of readFileSync(join(tasks.dir, file), "utf8").trim().split("\n")) {
      const { call, ids, at, over, aborted } = JSON.parse(line);
      const one = found.get(call) ?? { ids, atMs: at, overMs: undefined, aborted: [] };
      found.set(call, over === undefined ? one : { ...one, overMs: over, aborted });
    }
  return [...found.values()].toSorted((a, b) => a.atMs - b.atMs);
}

const callsOf = (id: string) => calls().filter(({ ids }) => ids.includes(id));
const gather = (params: object[]) => tasks.createMixed(params, { type: "gather" });
const many = (count: number, params: object = {}) => Array.from({ length: count }, () => params);
const over = async (ids: string[]): Promise<TaskView[]> => {
  await tasks.untilAllOver();
  const ended: TaskView[] = [];
  for (const id of ids) ended.push(await tasks.get(id));
  return ended;
};

test("Many go to one call, each with its own result; a call takes one worker", async () => {
  const ids = await gather(many(1_000, { wait: 100 }));
  const ended = await over(ids.filter((_, i) => i % 10 === 0)); // each is a call of REST
  const completed = new Set(await tasks.idsOf("Completed"));
  expect(ids.filter((id) => !completed.has(id))).toEqual([]);
  const made = calls();
  const sizes = made.map((call) => call.ids.length);
  console.log(`1,000 tasks in ${made.length} calls of ${Math.min(...sizes)}–${Math.max(...sizes)}`);
  expect(Math.max(...sizes)).toBe(SIZE);
  expect(made.length).toBeLessThan(40); // 20 at best
  expect(made.flatMap((call) => call.ids).toSorted()).toEqual(ids.toSorted());
  for (const { id, status, output } of ended)
    expect({ status, output }).toEqual({ status: "Completed", output: { together: callsOf(id)[0]?.ids.length } });
  const atOnce = (call: Call) => made.filter((one) => one.atMs <= call.atMs && (one.overMs ?? 0) > call.atMs).length;
  expect(Math.max(...made.map(atOnce))).toBe(2);
});

test.runIf(isTurnOf(2))(
  "Each has its own end: completed, failed, tried again, left out, given up, and of a result that does not pass",
  async () => {
    const kinds = ["complete", "fail", "fail-once", "give-up", "leave-out", "bad-output"] as const;
    const ids = await gather(kinds.map((does) => ({ does, wait: 50 })));
    const [complete, fail, once, given, left, bad] = await over(ids);
    expect(complete).toMatchObject({ status: "Completed", failures: 0, sends: 1 });
    expect(fail).toMatchObject({
      status: "Failed",
      failures: 2,
      lastError: { name: "RangeError", message: "this one fails" },
    });
    expect(fail?.lastError?.stack).toContain("gather.js");
    expect(once).toMatchObject({ status: "Completed", failures: 1, sends: 2 });
    expect(given).toMatchObject({ status: "Failed", failures: 1, lastError: { name: "NonRetryableError" } });
    expect(left).toMatchObject({
      status: "Failed",
      failures: 2,
      lastError: { message: expect.stringContaining("no result") },
    });
    expect(bad).toMatchObject({
      status: "Failed",
      failures: 1,
      lastError: { message: expect.stringContaining("does not pass") },
    });
  },
);

test.runIf(isTurnOf(2))("A call that throws has failed all its tasks", async () => {
  const ids = await gather([{ does: "throw" }, ...many(9)]);
  for (const task of await over(ids))
    expect(task).toMatchObject(
      callsOf(task.id).every((call) => call.ids.includes(ids[0] ?? ""))
        ? { status: "Failed", failures: 2, lastError: { message: "the whole call fails" } }
        : { status: "Completed" },
    );
  expect(await tasks.get(ids[0] ?? "")).toMatchObject({ status: "Failed" });
});

test.runIf(isTurnOf(1))("Params that do not pass fail that task, and the others go on", async () => {
  // Two services of different versions of a type may see to that; here there is none while it is created.
  await system.service("worker-1").kill("SIGTERM");
  await eventually(async () =>
    expect((await tasks.createAny({ type: "gather", params: { even: 1, dir: tasks.dir } })).status).toBe(201),
  );
  const ids = await gather(many(5));
  await system.startService("worker-2", { env: ENV });
  expect((await over(ids)).map(({ status }) => status)).toEqual(Array(5).fill("Completed"));
  const { items } = await tasks.list("status=Failed");
  expect(items).toMatchObject([{ failures: 1, lastError: { name: "InvalidParams" } }]);
});

test.runIf(isTurnOf(2))(
  "A task that ends its slot is found: the others of its call are sent again one by one, and complete",
  async () => {
    const ids = await gather([{ does: "kill" }, ...many(19)]);
    const [guilty, ...others] = await over(ids);
    expect(guilty).toMatchObject({ status: "Failed", failures: 0 });
    expect(others.map(({ status }) => status)).toEqual(Array(19).fill("Completed"));
    expect(others.some(({ interruptions }) => interruptions === 1)).toBe(true);
    for (const { id, interruptions } of others) if (interruptions > 0) expect(callsOf(id).at(-1)?.ids).toEqual([id]);
    const why = {
      reason: "restarted",
      service: { name: expect.stringMatching(/^worker-/) },
      detail: expect.stringContaining("ended"),
    };
    for (const { interrupted = [] } of others) for (const one of interrupted) expect(one).toMatchObject(why);
  },
);

test.runIf(isTurnOf(1))(
  "A task that makes its slot grow fails by itself: the others of its call are sent again one by one, and complete",
  async () => {
    const ids = await gather([{ does: "grow" }, ...many(19)]);
    const [guilty, ...others] = await over(ids);
    expect(guilty).toMatchObject({ status: "Failed", failures: 2, lastError: { name: "MemoryLimitError" } });
    expect(others.map(({ status, failures }) => `${status} ${failures}`)).toEqual(Array(19).fill("Completed 0"));
    expect(others.some(({ interruptions }) => interruptions === 1)).toBe(true);
    for (const { id, interruptions } of others) if (interruptions > 0) expect(callsOf(id).at(-1)?.ids).toEqual([id]);
  },
);

test.runIf(isTurnOf(2))("One of a call is cancelled: its signal says so, the others complete", async () => {
  const ids = await gather(many(10, { wait: 6_000 }));
  const [first = ""] = ids;
  await tasks.untilStatus(first, "Running");
  await eventually(() => expect(callsOf(first)).toHaveLength(1));
  expect((await system.call("DELETE", `/api/v1/tasks/${first}`)).status).toBe(202);
  await tasks.untilAllOver();
  // It was worked on until the end, and its result counts.
  expect(callsOf(first)[0]?.aborted).toEqual([first]);
  expect(callsOf(first)).toHaveLength(1);
  const left = await gather([{ does: "leave-out", wait: 6_000 }, ...many(3)]);
  await tasks.untilStatus(left[0] ?? "", "Running");
  await system.call("DELETE", `/api/v1/tasks/${left[0]}`);
  expect((await over([...ids, ...left])).filter(({ status }) => status !== "Completed")).toMatchObject([
    { id: left[0], status: "Cancelled" },
  ]);
});

test.runIf(isTurnOf(0))("All of a call are cancelled: it is told to end", async () => {
  const ids = await gather(many(5, { wait: 600_000 }));
  for (const id of ids) await tasks.untilStatus(id, "Running");
  // For autoscalers: they take one worker.
  expect((await scrape(system.url)).value("unacked_task_workers_desired", { pool: "default" })).toBe(1);
  for (const id of ids) await system.call("DELETE", `/api/v1/tasks/${id}`);
  expect((await over(ids)).map(({ status }) => status)).toEqual(Array(5).fill("Cancelled"));
});

test.runIf(isTurnOf(0))("A service that is killed, and one that drains, leave each task to end once", async () => {
  const ids = await gather(many(400, { wait: 300 }));
  await eventually(() => expect(calls().length).toBeGreaterThan(2));
  await system.startService("worker-2", { env: ENV });
  await system.service("worker-1").kill("SIGKILL");
  await eventually(() => expect(calls().length).toBeGreaterThan(5));
  await system.startService("worker-3", { env: ENV });
  await system.service("worker-2").kill("SIGTERM");
  const ended = await over(ids);
  expect(ended.filter(({ status }) => status !== "Completed")).toEqual([]);
  expect(ended.every(({ failures }) => failures === 0)).toBe(true);
  await eventually(async () => expect((await system.management.queue("unacked.tasks.default")).total).toBe(0));
});

/** Each claim of a type with a rate, and of how many tasks: what a stalled service runs together was claimed apart. */
const KEEP_CLAIMS = [
  "CREATE TABLE claims (at timestamptz PRIMARY KEY, tasks int)",
  `CREATE FUNCTION keep_claims() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN INSERT INTO claims SELECT * FROM unnest(NEW.claimed_at, NEW.claimed) ON CONFLICT DO NOTHING; RETURN NULL; END'`,
  "CREATE TRIGGER keep_claims AFTER UPDATE ON task_types FOR EACH ROW EXECUTE FUNCTION keep_claims()",
];

test.runIf(isTurnOf(0))("The limits of the type count tasks, not calls", async () => {
  await system.call("PATCH", "/api/v1/task-types/gather", { maxRunning: 7 });
  const ids = await gather(many(60, { wait: 30 }));
  await over(ids);
  const made = calls();
  const inFlight = (call: Call) =>
    made
      .filter((one) => one.atMs <= call.atMs && (one.overMs ?? 0) > call.atMs)
      .reduce((sum, one) => sum + one.ids.length, 0);
  expect(Math.max(...made.map(inFlight))).toBeLessThanOrEqual(7);
  expect(Math.max(...made.map((call) => call.ids.length))).toBe(7);
  await system.call("PATCH", "/api/v1/task-types/gather", { maxRunning: null, ratePerSecond: 20 });
  const url = system.env.DATABASE_URL as string;
  for (const statement of KEEP_CLAIMS) await runStatement(url, statement);
  await over(await gather(many(50)));
  const claims = await queryRows<{ micros: string; tasks: number }>(
    url,
    "SELECT extract(epoch FROM at) * 1000000 AS micros, tasks FROM claims",
  );
  const each = claims.flatMap(({ micros, tasks }) => Array<number>(tasks).fill(Number(micros)));
  expect(each.length).toBeGreaterThanOrEqual(50);
  expect(mostInASecond(each)).toBeLessThanOrEqual(20);
});
