import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { DataSource } from "typeorm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { eventually } from "../support/eventually.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { openBooks, type TestBooks } from "../support/servers/books.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* Claims beside somebody who has a snapshot open: what has been worked off since stays in the indexes. */

const DEAD = proves("tasks") ? 250_000 : 60_000;
const AT_ONCE = 5_000;
const TYPES = ["work", "few"];

let books: TestBooks;
let db: DataSource;
let queue: PostgresTaskQueueStore;
let reader: pg.Client;
/** Writes all the time in another database of the server, as its numbers are of the same row: it is to cost no floor. */
let elsewhere: pg.Client;
/** What a claim took in ms, before there was a snapshot. */
let before: number[];

const claim = async (window = 100) =>
  (await queue.claim("default", { window, workers: window, types: TYPES })).tasks.map(({ task }) => task);

const end = (type = "work") => db.query("DELETE FROM tasks WHERE type = $1 AND status = 'Sent'", [type]);

const put = (columns: string, values: string, type = "work") =>
  db.query(`INSERT INTO tasks (id, type, params, pool, status, ${columns})
            SELECT gen_random_uuid(), '${type}', '{}', 'default', 'Ready', ${values}`);

/** Claims of ten tasks, each of which ends. */
async function claims(count: number): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const beganMs = performance.now();
    expect(await claim(10)).toHaveLength(10);
    took.push(performance.now() - beganMs);
    await end();
  }
  return took.toSorted((a, b) => a - b);
}

async function workOff(count: number): Promise<void> {
  for (let left = count; left > 0; left -= AT_ONCE) {
    await putReady(db, AT_ONCE);
    await db.query(`UPDATE tasks SET status = 'Sent', send_id = gen_random_uuid(), sent_at = clock_timestamp()
      WHERE id = ANY(ARRAY(SELECT id FROM tasks WHERE status = 'Ready' ORDER BY due_at LIMIT ${AT_ONCE}))`);
    await db.query("UPDATE tasks SET status = 'Running', run_id = gen_random_uuid() WHERE status = 'Sent'");
    await db.query("DELETE FROM tasks WHERE status = 'Running'");
  }
}

beforeAll(async () => {
  books = await openBooks();
  db = books.dataSource;
  queue = new PostgresTaskQueueStore(db);
  await putTaskService(db, { types: TYPES });
  await putReady(db, 5_000);
  await db.query("ANALYZE tasks");
  before = await claims(50);
  reader = new pg.Client({ connectionString: books.databaseUrl });
  await reader.connect();
  await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await reader.query("SELECT count(*) FROM tasks");
  elsewhere = new pg.Client({ connectionString: new URL("/postgres", books.databaseUrl).href });
  await elsewhere.connect();
  await elsewhere.query("BEGIN; CREATE TEMP TABLE written (at timestamptz)");
  await workOff(DEAD);
  // As tasks are: due when they are created.
  await db.query("UPDATE tasks SET due_at = now() WHERE status = 'Ready'");
  await db.query("ANALYZE tasks");
  await sleep(3_000); // nobody works off so many in two seconds, by which a floor is lower than what was seen
}, 240_000);
afterAll(async () => {
  await Promise.all([reader?.end(), elsewhere?.end()]);
  await books?.close();
});

test.runIf(isTurnOf(0))("A claim takes no longer because much has been worked off since", async () => {
  const full = performance.now();
  expect(await claim(10)).toHaveLength(10);
  const fullMs = performance.now() - full;
  await end();
  const took = await claims(100);
  // A claim that goes past what was worked off takes as long as the first each time, on a busy machine as on a quiet one.
  const [was, is] = [before[12] as number, took[25] as number];
  process.stdout.write(
    `claims of 10: ${was.toFixed(1)} ms (p25); beside a snapshot since which ${DEAD} were worked off: ${is.toFixed(1)} ms (p25), ${took[50]?.toFixed(1)} ms (p50), ${took.at(-1)?.toFixed(0)} ms (most), the first ${fullMs.toFixed(0)} ms\n`,
  );
  expect(is).toBeLessThan(2 * was + (proves("tasks") ? 3 : 50));
  expect(is).toBeLessThan(fullMs / 2);
});

test.runIf(isTurnOf(1))(
  "A type that its limit holds back since long before does not hold up the looks for the others",
  async () => {
    await db.query("INSERT INTO task_types (type, paused, min_running) VALUES ('few', true, 0)");
    await put("priority, due_at", "0, now() - interval '1 day'", "few");
    await claims(50); // floors are made anew within these
    const took = await claims(100);
    process.stdout.write(`with one that its limit holds back: ${took[50]?.toFixed(1)} ms (p50)\n`);
    expect(took[50]).toBeLessThan(2 * (before[25] as number) + 50);
    await db.query("DELETE FROM tasks WHERE type = 'few'");
    await db.query("DELETE FROM task_types");
  },
);

test("What becomes urgent is claimed at once, and what has been due for long is found all the same", async () => {
  await claims(5);
  await put("priority, due_at", "9, now()");
  expect((await claim(1)).length).toBe(1);
  const [urgent] = await db.query("SELECT count(*)::int AS count FROM tasks WHERE priority = 9 AND status = 'Sent'");
  expect(urgent.count).toBe(1);
  await end();
  await put("priority, due_at", "9, now() - interval '1 hour'"); // sent back, or created by a transaction that was open for long
  const beganMs = performance.now();
  await eventually(async () => {
    await claim(1);
    const [old] = await db.query("SELECT count(*)::int AS count FROM tasks WHERE priority = 9 AND status = 'Sent'");
    await end();
    expect(old.count).toBe(1);
  });
  process.stdout.write(`what has been due for an hour: found after ${(performance.now() - beganMs).toFixed(0)} ms\n`);
  expect(performance.now() - beganMs).toBeLessThan(30_000);
});

test("Where nothing else waits that is found, too", async () => {
  await db.query("DELETE FROM tasks WHERE status = 'Ready'");
  await claim();
  await claim();
  await put("priority, due_at", "0, now() - interval '1 hour'");
  await db.query("UPDATE task_services SET seen_at = now()");
  const { length } = await queue.waitingPools();
  process.stdout.write(`the pool waits ${length === 0 ? "for the next full look" : "at once"}\n`);
  await eventually(async () => expect(await queue.waitingPools()).toHaveLength(1), { timeoutMs: 7_000 });
  await eventually(async () => expect(await claim()).toHaveLength(1), { timeoutMs: 7_000 });
  await end();
});

test.runIf(isTurnOf(2))(
  "A limit is exact beside it, also of what was sent long ago and while others claim",
  async () => {
    await db.query("INSERT INTO task_types (type, paused, min_running, max_running) VALUES ('few', false, 0, 5)");
    await putReady(db, 3, { type: "few" });
    await db.query("UPDATE tasks SET due_at = now() WHERE status = 'Ready'");
    for (let i = 0; i < 20; i += 1) await claim();
    await db.query("UPDATE tasks SET sent_at = sent_at - interval '1 hour' WHERE type = 'few'"); // runs for long
    await putReady(db, 500, { type: "few" });
    await putReady(db, 2_000);
    await db.query("UPDATE tasks SET due_at = now() WHERE status = 'Ready'");
    await sleep(5_100); // the next look is a full one
    const other = new PostgresTaskQueueStore(db);
    const inFlight = async (): Promise<number> =>
      (await db.query("SELECT count(*)::int AS count FROM tasks WHERE type = 'few' AND status = 'Sent'"))[0].count;
    let most = 0;
    for (let i = 0; i < 100; i += 1) {
      await Promise.all([claim(50), other.claim("default", { window: 50, workers: 50, types: TYPES })]);
      most = Math.max(most, await inFlight());
      await end();
      if (i % 10 === 9)
        await db.query("DELETE FROM tasks WHERE type = 'few' AND status = 'Sent' AND sent_at > now() - interval '1 minute'");
    }
    expect(most).toBe(5);
    expect(await inFlight()).toBeGreaterThanOrEqual(3);
  },
  240_000,
);
