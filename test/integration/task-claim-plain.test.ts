import type { ChangeTaskType } from "@unacked/contracts";
import type { DataSource, QueryRunner } from "typeorm";
import { beforeAll, expect, test } from "vitest";
import { CLAIM } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-claim.ts";
import { CLAIM_PLAIN } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-claim-plain.ts";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { type Queryable, useBooks } from "../support/servers/books.ts";
import { changeLimits } from "../support/system/limits.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* The claim for where nobody is limited, beside the one that knows limits. */

const books = useBooks("tasks, task_types, task_services");
let db: DataSource;

beforeAll(() => {
  db = books.dataSource;
});

type Row = { taskId: string | null; isRefused?: boolean; isAll?: boolean };

/** What is done is taken back. */
async function inVain<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
  const runner = db.createQueryRunner();
  await runner.startTransaction();
  try {
    return await work(runner);
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

const SINGLE = ["a", "b"];
const BATCHED = ["many"];

const plain = (window: number, runner: Queryable = db): Promise<Row[]> =>
  runner.query(CLAIM_PLAIN, ["default", window, SINGLE, BATCHED]) as Promise<Row[]>;

const takenOf = (rows: Row[]) => rows.flatMap(({ taskId }) => taskId ?? []);

const limit = (type: string, change: ChangeTaskType) => changeLimits(db, type, change);

const sent = async (): Promise<number> => {
  const [row] = await db.query("SELECT count(*)::int AS count FROM tasks WHERE status = 'Sent'");
  return row.count;
};

/** A send's id is random; the others are of one statement alone. */
const NOT_COMPARED = { sendId: undefined, isRefused: undefined, isAll: undefined, roomAhead: undefined };

test("It takes what the other would, in the same order, and writes the same of it", async () => {
  for (const type of SINGLE) for (const priority of [0, 5, -3]) await putReady(db, 20, { type, priority });
  await putReady(db, 50, { type: "a", pool: "elsewhere", priority: 9 });
  await db.query(
    "UPDATE tasks SET due_at = due_at - random() * interval '1 hour', sends = (random() * 2)::int, crashes = (random() * 2)::int",
  );
  await db.query(
    "UPDATE tasks SET status = 'Sent', send_id = gen_random_uuid(), sent_at = now() WHERE id IN (SELECT id FROM tasks WHERE pool = 'default' LIMIT 7)",
  );
  const WRITTEN = "SELECT id, status, sends, lane, taken_by, send_id IS NULL AS sent FROM tasks ORDER BY id";
  for (const window of [0, 7, 8, 40, 1_000]) {
    const ours = await inVain(async (runner) => ({
      rows: await plain(window, runner),
      written: await runner.query(WRITTEN),
    }));
    const theirs = await inVain(async (runner) => ({
      rows: (await runner.query(CLAIM, ["default", window, 100, SINGLE])) as Row[],
      written: await runner.query(WRITTEN),
    }));
    expect(ours.rows[0]?.isRefused).toBe(false);
    expect(takenOf(ours.rows)).toEqual(takenOf(theirs.rows));
    expect(ours.written).toEqual(theirs.written);
    const told = (rows: Row[]) => rows.map((row) => ({ ...row, ...NOT_COMPARED }));
    expect(told(ours.rows)).toEqual(told(theirs.rows));
    expect(takenOf(ours.rows)).toHaveLength(Math.min(113, Math.max(0, window - 7)));
  }
});

test("It says whether it took all that waited: not where just as many waited as there was room, nor where another claims", async () => {
  const isAll = async (window: number, runner?: Queryable) => (await plain(window, runner))[0]?.isAll;
  expect(await isAll(5)).toBe(true);
  await putReady(db, 10, { type: "a" });
  expect([await isAll(9), await isAll(9), await isAll(10), await isAll(11)]).toEqual([false, false, false, true]);
  await putReady(db, 1, { type: "a" });
  await inVain(async (other) => {
    await plain(0, other);
    expect(await isAll(100)).toBe(false);
  });
  expect(await isAll(100)).toBe(true);
  await putReady(db, 1, { type: "nobody has it" });
  expect(await isAll(100)).toBe(true); // and refused
});

test.each<[string, ChangeTaskType]>([
  ["paused", { paused: true }],
  ["a most", { maxRunning: 1_000 }],
  ["a rate", { ratePerSecond: 1_000 }],
  ["a least", { minRunning: 1 }],
])("It takes nothing where a type has %s, although others are next; and everything once that is gone", async (_, change) => {
  await putReady(db, 10, { type: "a", priority: 5 });
  await putReady(db, 10, { type: "b" });
  await limit("b", change);
  const [row] = await plain(5);
  expect([row?.isRefused, row?.taskId, await sent()]).toEqual([true, null, 0]);
  await limit("b", { paused: false, maxRunning: null, ratePerSecond: null, minRunning: 0 });
  expect(takenOf(await plain(15))).toHaveLength(15);
});

test("A limit holds from its answer on", async () => {
  for (let round = 0; round < 30; round += 1) {
    await db.query("TRUNCATE tasks, task_types");
    await putReady(db, 300, { type: "a" });
    let answered = false;
    const claiming = (async () => {
      for (let window = 1; !answered; window += 1) await plain(window);
    })();
    await limit("a", { paused: true });
    const before = await sent();
    answered = true;
    await claiming;
    expect(await sent()).toBe(before);
  }
});

test("It takes nothing where one that no service has is among the next, but where it comes after them", async () => {
  await putReady(db, 10, { type: "a", priority: 5 });
  await putReady(db, 1, { type: "strange", priority: 3 });
  await putReady(db, 10, { type: "b" });
  expect((await plain(11))[0]?.isRefused).toBe(true);
  expect(await sent()).toBe(0);
  expect(takenOf(await plain(10))).toHaveLength(10);
});

test("It takes nothing where a type that takes batches is among the next, or in flight", async () => {
  await putReady(db, 1, { type: "many", priority: 5 });
  await putReady(db, 10, { type: "a" });
  expect((await plain(5))[0]?.isRefused).toBe(true);
  await db.query("UPDATE tasks SET status = 'Sent', send_id = gen_random_uuid(), sent_at = now() WHERE type = 'many'");
  expect((await plain(5))[0]?.isRefused).toBe(true);
  await db.query("DELETE FROM tasks WHERE type = 'many'");
  expect(takenOf(await plain(5))).toHaveLength(5);
});

test("While another manager claims for the pool it takes nothing, and is not refused", async () => {
  await putReady(db, 10, { type: "a" });
  await inVain(async (runner) => {
    expect(takenOf(await plain(3, runner))).toHaveLength(3);
    const [row] = await plain(5);
    expect([row?.isRefused, row?.taskId]).toEqual([false, null]);
  });
});

test("What is in flight is the window and no more, however many claim at once", async () => {
  await putReady(db, 300, { type: "a" });
  for (let window = 5; window <= 250; window += 5) {
    await Promise.all(Array.from({ length: 4 }, () => plain(window)));
    expect(await sent()).toBe(window);
  }
});

test("Where it is refused the other claims, in the same call", async () => {
  await putTaskService(db, { types: ["a", "b"] });
  await putReady(db, 10, { type: "a", priority: 5 });
  await putReady(db, 10, { type: "b" });
  const queue = new PostgresTaskQueueStore(db);
  const asked = { workers: 20, types: SINGLE };
  expect((await queue.claim("default", { ...asked, window: 4 })).tasks).toHaveLength(4);
  await limit("a", { maxRunning: 5 });
  const { tasks } = await queue.claim("default", { ...asked, window: 20 });
  expect(tasks.map(({ task }) => task.type).toSorted()).toEqual(["a", ...Array(10).fill("b")]);
});
