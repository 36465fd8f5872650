import { randomUUID } from "node:crypto";
import type { ChangeTaskType } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { CLAIM } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-claim.ts";
import { CLAIM_PLAIN } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-claim-plain.ts";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { INSERT_AT_ONCE } from "../../services/observer-manager/src/adapters/postgres/tasks/creations/task-insert-statements.ts";
import { TAKE } from "../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take.ts";
import { mostInASecond } from "../support/acts/rates.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { keptLog, openBooks, type TestBooks } from "../support/servers/books.ts";
import { untilWait } from "../support/servers/lock-waits.ts";
import { changeLimits } from "../support/system/limits.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* The claim alone, on a real database: several managers at once, none of them a process of its own. */

let books: TestBooks;
let db: DataSource;
let queue: PostgresTaskQueueStore;

beforeAll(async () => {
  books = await openBooks();
  db = books.dataSource;
});
afterAll(() => books.close());
beforeEach(async () => {
  queue = new PostgresTaskQueueStore(db); // one that knows nothing of the tasks before
  await db.query("TRUNCATE tasks, task_types, task_services");
});

const limit = (type: string, change: ChangeTaskType) => changeLimits(db, type, change);

/** All that a service of these tests has. */
const TYPES = ["work", "paused", "few", "urgent", "plain", "a", "b", "kept", "throttled"];

/** With the window's size, as many workers. */
const claim = async (size: number, pool = "default") =>
  (await queue.claim(pool, { window: size, workers: size, types: TYPES })).tasks.map(({ task }) => task.type);

const inFlight = async (type: string): Promise<number> => {
  const [row] = await db.query("SELECT count(*)::int AS count FROM tasks WHERE type = $1 AND status = 'Sent'", [type]);
  return row.count;
};

const lanesOf = async (type: string): Promise<number> => {
  const [row] = await db.query("SELECT sum(count)::int AS count FROM unacked_tasks_held('', ARRAY[$1])", [type]);
  return row.count;
};

/** A manager of its own on the same database. */
async function otherManager(): Promise<PostgresTaskQueueStore> {
  const own = await createDataSource({ databaseUrl: books.databaseUrl, poolSize: 1, log: keptLog() }).initialize();
  onTestFinished(() => own.destroy());
  return new PostgresTaskQueueStore(own);
}

test.runIf(isTurnOf(1))("No limit is exceeded by managers that claim for several pools at once", async () => {
  const pools = ["one", "two", "three"];
  for (const pool of pools) await putReady(db, 300, { pool });
  await limit("work", { maxRunning: 7 });
  let most = 0;
  let ended = 0;
  const work = async (pool: string): Promise<void> => {
    const manager = await otherManager();
    while (ended < 500) {
      await manager.claim(pool, { window: 20, workers: 20, types: TYPES });
      most = Math.max(most, await inFlight("work"));
      const gone = await db.query(
        "WITH gone AS (DELETE FROM tasks WHERE id IN (SELECT id FROM tasks WHERE status = 'Sent' LIMIT 3 FOR UPDATE SKIP LOCKED) RETURNING id) SELECT id FROM gone",
      );
      ended += gone.length;
    }
  };
  await Promise.all([...pools, ...pools].map(work));
  expect(most).toBe(7);
});

test("The first of a lane that is sent again is one more beside those who followed it", async () => {
  await putReady(db, 6);
  await limit("work", { maxRunning: 2 });
  const { tasks } = await queue.claim("default", { window: 2, workers: 2, types: TYPES });
  const lanes = tasks.flatMap(({ lane }) => lane ?? []);
  expect(lanes).toEqual(tasks.map(({ task }) => task.taskId));
  expect(await queue.claimJoiners("default", "work", lanes, [0, 1])).toHaveLength(2);
  // Both have failed, and are due again, while those behind them run.
  await db.query("UPDATE tasks SET status = 'Ready', send_id = NULL WHERE id = ANY($1)", [lanes]);
  expect(await claim(4)).toEqual([]);
  await db.query("DELETE FROM tasks WHERE lane = $1 AND id <> lane", [lanes[1]]);
  expect(await claim(4)).toEqual(["work"]);
  expect(await claim(4)).toEqual([]);
});

const LEFT: [what: string, sql: string][] = [
  ["cancelled", "DELETE FROM tasks WHERE id = $1"],
  ["given back", "UPDATE tasks SET status = 'Ready', send_id = NULL WHERE id = $1"],
];

test.each(LEFT)("Nobody joins a lane whose first was %s, beside another that has taken its place", async (_, left) => {
  for (const pool of ["default", "other"]) await putReady(db, 6, { pool });
  await limit("work", { maxRunning: 2 });
  const { tasks } = await queue.claim("default", { window: 2, workers: 2, types: TYPES });
  const lanes = tasks.map(({ task }) => task.taskId);
  await db.query(left, [lanes[0]]);
  expect(await claim(9, "other")).toEqual(["work"]);
  const joiners = await queue.claimJoiners("default", "work", lanes, [0, 1, 0, 1]);
  expect(joiners.map(({ lane }) => lane)).toEqual([lanes[1], lanes[1]]);
  expect(await lanesOf("work")).toBe(2);
});

test.each(LEFT)(
  "Nobody joins a lane whose first is %s while a claim that takes its place has its type locked",
  async (_, left) => {
    for (const pool of ["default", "other"]) await putReady(db, 3, { pool });
    await limit("work", { maxRunning: 1 });
    const { tasks } = await queue.claim("default", { window: 9, workers: 9, types: TYPES });
    const lanes = tasks.map(({ task }) => task.taskId);
    expect(lanes).toHaveLength(1);
    const other = db.createQueryRunner();
    await other.startTransaction();
    await other.query("SELECT FROM task_types FOR UPDATE");
    const joined = queue.claimJoiners("default", "work", lanes, [0, 0]);
    joined.catch(() => undefined); // awaited below
    await untilWait(db);
    // Behind the beginning of the other statement, which saw the first of its lane in flight.
    await db.query(left, lanes);
    await other.query(CLAIM, ["other", 9, 9, TYPES]);
    await other.commitTransaction();
    await other.release();
    expect(await joined).toEqual([]);
    expect(await lanesOf("work")).toBe(1);
  },
);

test("What a pool has in flight is exact too when several managers claim for it at once", async () => {
  await putReady(db, 500);
  await limit("work", { maxRunning: 1_000 });
  const managers = await Promise.all(Array.from({ length: 4 }, otherManager));
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(
      managers.map((manager) => manager.claim("default", { window: 10 + round, workers: 10, types: TYPES })),
    );
    expect(await inFlight("work")).toBeLessThanOrEqual(10 + round);
  }
  expect(await inFlight("work")).toBeGreaterThanOrEqual(28);
});

test("A limit holds from its answer on, whatever is claimed just then", async () => {
  const managers = await Promise.all(["one", "two"].map(async (pool) => ({ pool, manager: await otherManager() })));
  for (let round = 0; round < 20; round += 1) {
    await db.query("TRUNCATE tasks, task_types");
    for (const { pool } of managers) await putReady(db, 200, { pool });
    let answered = false;
    const claimed = managers.map(async ({ pool, manager }) => {
      for (let window = 1; !answered; window += 1) await manager.claim(pool, { window, workers: window, types: TYPES });
    });
    await limit("work", { paused: true });
    const before = await inFlight("work");
    answered = true;
    await Promise.all(claimed);
    expect(await inFlight("work")).toBe(before);
  }
});

test("A type that is paused, or at its limit, leaves its place to the others, in their order", async () => {
  await putReady(db, 100, { type: "paused", priority: 9 });
  await putReady(db, 100, { type: "few", priority: 5 });
  await putReady(db, 2, { type: "urgent", priority: 7 });
  await putReady(db, 100, { type: "plain" });
  await limit("paused", { paused: true });
  await limit("few", { maxRunning: 3 });
  expect(await claim(8)).toEqual(["urgent", "urgent", "few", "few", "few", "plain", "plain", "plain"]);
  await limit("paused", { paused: false });
  expect(await claim(10)).toEqual(["paused", "paused"]);
});

test.each([
  ["with limits", CLAIM, [9, TYPES]],
  ["without", CLAIM_PLAIN, [TYPES, []]],
])("What is replaced into another pool while a claim %s waits goes to nobody of the old one", async (_, text, more) => {
  await db.query("SELECT unacked_create_task('work', key => 'wall')");
  await limit("work", { maxRunning: 5 });
  const other = db.createQueryRunner();
  await other.startTransaction();
  await other.query("SELECT FROM task_types FOR UPDATE");
  await other.query("UPDATE task_types SET max_running = NULL");
  const claimed = db.query(text, ["default", 9, ...more]);
  claimed.catch(() => undefined); // awaited below
  await untilWait(db);
  await db.query("SELECT unacked_create_task('work', key => 'wall', pool => 'gpu', on_conflict => 'replace')");
  await other.commitTransaction();
  await other.release();
  expect(await claimed).toMatchObject([{ taskId: null }]);
  expect(await claim(9, "gpu")).toEqual(["work"]);
});

test("Where nobody is limited the order is the same", async () => {
  await putReady(db, 3, { type: "b", priority: 1 });
  await putReady(db, 3, { type: "a" });
  await limit("b", { maxRunning: 100 });
  expect(await claim(5)).toEqual(["b", "b", "b", "a", "a"]);
});

test("Workers are kept for a type with a minimum, and it has them although others are more urgent", async () => {
  await putTaskService(db, { types: ["kept", "work"] });
  await putReady(db, 1_000, { type: "work", priority: 100 });
  await putReady(db, 1, { type: "kept" });
  await limit("kept", { minRunning: 3 });
  const first = await claim(10);
  expect(first.filter((type) => type === "work")).toHaveLength(7);
  expect(first.filter((type) => type === "kept")).toHaveLength(1);
  await putReady(db, 5, { type: "kept" });
  expect(await claim(10)).toEqual(["kept", "kept"]);
  expect(await claim(10)).toEqual([]);
});

test("More than all workers but one are kept for nobody, and none where no service has the type", async () => {
  await putTaskService(db, { types: ["kept", "work"] });
  await putReady(db, 100);
  await limit("work", { paused: false, maxRunning: 1_000 });
  await db.query("INSERT INTO task_types (type, paused, min_running) VALUES ('elsewhere', false, 5), ('kept', false, 50)");
  expect(await claim(10)).toEqual(["work"]);
});

test("Where PostgreSQL's clock was set back by an hour a rate goes on at once; by less than a second it holds, for as long", async () => {
  await putTaskService(db, { types: TYPES });
  await putReady(db, 100);
  await limit("work", { ratePerSecond: 10 });
  const asked = { window: 100, workers: 100, types: TYPES };
  const claimedIn = (future: string) =>
    db.query("UPDATE task_types SET claimed_at = ARRAY[clock_timestamp() + $1::interval], claimed = ARRAY[10]", [future]);

  // As claims stand there that were made before the clock was set back.
  await claimedIn("1 hour");
  expect(await claim(100)).toHaveLength(10);
  expect(await db.query("SELECT claimed, claimed_at[1] <= clock_timestamp() AS past FROM task_types")).toEqual([
    { claimed: [10], past: true },
  ]);
  // One that counts for nothing else holds up the next claim neither, as one that is too soon.
  await claimedIn("1 hour");
  await db.query("UPDATE task_types SET claimed = ARRAY[1]");
  expect(await claim(100)).toHaveLength(10);

  await claimedIn("500 ms");
  const { tasks, nextRoomInMs } = await queue.claim("default", asked);
  expect(tasks).toEqual([]);
  expect(nextRoomInMs).toSatisfy((ms: number) => ms > 1_000 && ms <= 1_500);
});

test.runIf(isTurnOf(0))("No second holds more claims than the rate allows, whoever claims, and hardly less", async () => {
  const [rate, seconds] = proves("tasks") ? [50, 30] : [50, 6];
  const pools = ["one", "two"];
  for (const pool of pools) await putReady(db, 2_000, { pool });
  await limit("work", { ratePerSecond: rate });
  const endMs = performance.now() + seconds * 1_000;
  const work = async (pool: string): Promise<void> => {
    const manager = await otherManager();
    while (performance.now() < endMs) {
      const { nextRoomInMs, tasks } = await manager.claim(pool, { window: 2_000, workers: 2_000, types: TYPES });
      expect(nextRoomInMs).not.toBeNull(); // or it would not be woken
      if (tasks.length === rate) expect(nextRoomInMs).toBeLessThan(1_000); // as it has taken a while itself
      await new Promise((resolve) => setTimeout(resolve, Math.max(1, nextRoomInMs ?? 0)));
    }
  };
  await Promise.all(pools.map(work));
  const rows = await db.query("SELECT extract(epoch FROM sent_at) * 1e6 AS micros FROM tasks WHERE status = 'Sent'");
  const times: number[] = rows.map(({ micros }: { micros: string }) => Number(micros));
  const most = mostInASecond(times);
  process.stdout.write(`claims at ${rate} a second: ${times.length} in ${seconds} s, at most ${most} in any second\n`);
  expect(most).toBe(rate);
  expect(times.length).toBeGreaterThanOrEqual(rate * seconds * (proves("tasks") ? 0.96 : 0.8));
});

test("A pause is not caught up with", async () => {
  await putReady(db, 100);
  await limit("work", { ratePerSecond: 10 });
  expect(await claim(100)).toHaveLength(10);
  await db.query("UPDATE task_types SET claimed_at = ARRAY(SELECT at - interval '1 hour' FROM unnest(claimed_at) AS at)");
  expect(await claim(100)).toHaveLength(10);
  expect(await claim(100)).toHaveLength(0);
});

test.runIf(isTurnOf(2))("Rows of a type without room are not looked at", async () => {
  const count = proves("tasks") ? 1_000_000 : 50_000;
  await putReady(db, count, { type: "throttled", priority: 10 });
  await putReady(db, 1_000, { type: "work" });
  await db.query("ANALYZE tasks");
  await limit("throttled", { maxRunning: 7 });
  expect(await claim(107)).toHaveLength(107);
  const plan: { "QUERY PLAN": string }[] = await db.query(`EXPLAIN (ANALYZE, BUFFERS) ${CLAIM}`, [
    "default",
    207,
    207,
    TYPES,
  ]);
  const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
  const [, buffers] = /Buffers: shared hit=(\d+)/.exec(text) ?? [];
  const [, timeMs] = /Execution Time: ([\d.]+)/.exec(text) ?? [];
  process.stdout.write(`a claim of 100 beside ${count} throttled rows: ${timeMs} ms, ${buffers} buffers\n`);
  if (proves("tasks")) process.stdout.write(`${text}\n`);
  expect(await inFlight("work")).toBe(200);
  expect(text).not.toMatch(/Seq Scan on tasks/);
  expect(Number(buffers)).toBeLessThan(5_000); // 100 tasks in six indexes; 50,000 rows alone are more
});

/** Of a claim that was made: what it read. */
async function costOf(statement: string, parameters: unknown[]): Promise<{ text: string; buffers: number; ms: number }> {
  const plan: { "QUERY PLAN": string }[] = await db.query(`EXPLAIN (ANALYZE, BUFFERS) ${statement}`, parameters);
  const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
  const [, buffers] = /Buffers: shared hit=(\d+)/.exec(text) ?? [];
  const [, ms] = /Execution Time: ([\d.]+)/.exec(text) ?? [];
  return { text, buffers: Number(buffers), ms: Number(ms) };
}

const takeAction = (): string =>
  JSON.stringify({
    id: randomUUID(),
    actor: "a",
    role: "operator",
    authentication: "token",
    address: "",
    request_id: "r",
    deed: "task.take",
  });

test.runIf(isTurnOf(2))("Rows of a type that no service has are not looked at, nor those of others by a taker", async () => {
  const count = proves("tasks") ? 1_000_000 : 50_000;
  await putReady(db, count, { type: "paint", priority: 10 });
  await putReady(db, 1_000, { type: "work" });
  await db.query("ANALYZE tasks");
  const claimed = await costOf(CLAIM, ["default", 100, 100, TYPES]);
  expect(await inFlight("work")).toBe(100);
  const taken = await costOf(TAKE, ["default", 100, 60_000, ["work"], "a", takeAction()]);
  const [row] = await db.query("SELECT count(*)::int AS count FROM tasks WHERE type = 'work' AND lease_until IS NOT NULL");
  expect(row.count).toBe(100);
  process.stdout.write(
    `beside ${count} that no service has: a claim of 100 ${claimed.ms} ms, ${claimed.buffers} buffers; a take of 100 ${taken.ms} ms, ${taken.buffers} buffers\n`,
  );
  for (const { text, buffers } of [claimed, taken]) {
    expect(text).not.toMatch(/Seq Scan on tasks/);
    expect(buffers).toBeLessThan(5_000);
  }
});

test("What is taken is looked at by no claim, by no other taker, and by no create that sends at once", async () => {
  await putReady(db, 20_000, { type: "paint" });
  await db.query(
    `UPDATE tasks SET status = 'Running', send_id = gen_random_uuid(), run_id = gen_random_uuid(), sent_at = now(), started_at = now(),
       lease_until = now() + interval '1 day', taken_by = 'somebody'`,
  );
  await db.query("VACUUM (ANALYZE) tasks");
  const asked = [[randomUUID()], ["work"], ["{}"], ["default"], [0], [null], [null], [null], [null], "default", 10, TYPES];
  const created = await costOf(INSERT_AT_ONCE.ofNew, asked);
  expect(await inFlight("work")).toBe(1);
  await putReady(db, 100);
  await putReady(db, 100, { type: "few", pool: "other" });
  const plain = await costOf(CLAIM_PLAIN, ["default", 10, TYPES, []]);
  const whole = await costOf(CLAIM, ["default", 20, 20, TYPES]);
  await limit("few", { maxRunning: 3 });
  const limited = await costOf(CLAIM, ["other", 10, 10, TYPES]);
  const taken = await costOf(TAKE, ["default", 10, 60_000, ["work"], "a", takeAction()]);
  expect([await inFlight("work"), await inFlight("few")]).toEqual([20, 3]);
  const costs = { created, plain, whole, limited, taken };
  const told = Object.entries(costs).map(([name, { ms, buffers }]) => `${name} ${ms} ms, ${buffers} buffers`);
  process.stdout.write(`claims beside 20,000 that are taken: ${told.join("; ")}\n`);
  for (const { buffers } of Object.values(costs)) expect(buffers).toBeLessThan(500);
});

test("What is taken counts for its type's maxRunning, in whichever pool, and for no other's", async () => {
  for (const pool of ["default", "other"]) await putReady(db, 10, { pool });
  await putReady(db, 10, { type: "a" });
  await limit("work", { maxRunning: 5 });
  const take = (pool: string, count: number): Promise<{ taskId: string | null }[]> =>
    db.query(TAKE, [pool, count, 60_000, ["work"], "somebody", takeAction()]);
  expect(await take("default", 2)).toHaveLength(2);
  expect(await take("other", 1)).toHaveLength(1);
  expect((await claim(20)).toSorted()).toEqual([...Array(10).fill("a"), "work", "work"]);
  expect(await take("other", 1)).toMatchObject([{ taskId: null }]);
  expect(await claim(20, "other")).toEqual([]);
  expect(await lanesOf("work")).toBe(5);
  await db.query("DELETE FROM tasks WHERE lease_until IS NOT NULL AND pool = 'other'");
  expect(await claim(20, "other")).toEqual(["work"]);
});

test("To know the types of many services costs the dispatcher little", async () => {
  const types = Array.from({ length: 50 }, (_, i) => `type-${i}`);
  for (let i = 0; i < 20; i += 1) await putTaskService(db, { types });
  await putReady(db, 1, { type: "type-7" });
  const took: number[] = [];
  for (let i = 0; i < 50; i += 1) {
    const beganMs = performance.now();
    expect((await queue.waitingPools())[0]?.types).toHaveLength(50);
    took.push(performance.now() - beganMs);
  }
  const middle = took.toSorted((a, b) => a - b)[25] as number;
  process.stdout.write(`types of 20 services with 50 each: ${middle.toFixed(2)} ms (p50)\n`);
  expect(middle).toBeLessThan(200);
});
