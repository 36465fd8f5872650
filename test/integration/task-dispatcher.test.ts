import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { StartTask } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import type { Bundle } from "../../services/observer-manager/src/domain/tasks/bundles.ts";
import { TaskDispatcher } from "../../services/observer-manager/src/operations/tasks/dispatch/task-dispatcher.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, useBooks } from "../support/servers/books.ts";
import { changeLimits } from "../support/system/limits.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* When the dispatcher looks into the books: its broker here takes whatever it is sent. */

const WORKERS = 4;
/** Of four workers; a quarter more may wait for them. */
const WINDOW = 5;
const REFILL_MS = 25;

const books = useBooks("tasks, task_types, task_services, flow_tasks, flow_edges");
let db: DataSource;
let dispatcher: TaskDispatcher;
let sent: StartTask[];
/** How many each message had. */
let bundles: number[];
let rounds: number;
let held: Promise<void> | undefined;

beforeAll(() => {
  db = books.dataSource;
});

beforeEach(async () => {
  await putTaskService(db, { workers: WORKERS });
  [sent, bundles, rounds, held] = [[], [], 0, undefined];
  class Store extends PostgresTaskQueueStore {
    override async waitingPools() {
      rounds += 1;
      const pools = await super.waitingPools();
      await held;
      return pools;
    }
  }
  const sender = {
    ready: () => Promise.resolve(),
    isReady: true,
    async send({ tasks }: Bundle) {
      sent.push(...tasks);
      bundles.push(tasks.length);
      return "sent" as const;
    },
    cancel: () => Promise.resolve(),
  };
  dispatcher = new TaskDispatcher({
    store: new Store(db),
    sender,
    promoted: () => undefined,
    isWaitedFor: () => false,
    log: keptLog(),
  });
  dispatcher.start();
  await eventually(() => expect(rounds).toBe(1));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await dispatcher.stop();
});

/** The timers that its waits for so long are do not come. By itself it looks each second. */
function withoutTimers(isOff: (ms: number) => boolean): void {
  const real = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms = 0) =>
    real(isOff(ms) ? () => undefined : act, ms)) as typeof setTimeout);
}
const isOwnLook = (ms: number): boolean => ms > 100 && ms <= 1_010;

const untilSent = (count: number) => eventually(() => expect(sent).toHaveLength(count));
const end = (count: number) =>
  db.query("DELETE FROM tasks WHERE id = ANY($1)", [sent.slice(0, count).map(({ taskId }) => taskId)]);

test("While nothing waits, ends have it look 20 times a second at most; what comes then is sent at once", async () => {
  await putReady(db, 3);
  dispatcher.wake();
  await untilSent(3);
  const [before, beganMs] = [rounds, performance.now()];
  for (let i = 0; i < 500; i += 1) {
    dispatcher.madeRoom();
    await db.query("SELECT");
  }
  expect(rounds - before).toBeLessThanOrEqual((performance.now() - beganMs) / 50 + 2); // one a second by itself
  withoutTimers((ms) => ms === 50 || isOwnLook(ms));
  await putReady(db, 1);
  dispatcher.wake();
  await untilSent(4);
});

test("While something waits for room, an end has the next ones sent at once", async () => {
  withoutTimers((ms) => ms === 50 || isOwnLook(ms));
  await putReady(db, 100);
  dispatcher.wake();
  await untilSent(WINDOW);
  for (let round = 1; round <= 5; round += 1) {
    await end(sent.length);
    dispatcher.madeRoom();
    await eventually(() => expect(sent.length).toBeGreaterThan(round * WINDOW - 1));
  }
});

test("Room that is made while it claims is looked for when it has", async () => {
  await putReady(db, WINDOW + 3);
  let goOn = () => {};
  held = new Promise((resolve) => (goOn = resolve));
  dispatcher.wake();
  await eventually(() => expect(rounds).toBe(2));
  withoutTimers((ms) => ms === 50 || isOwnLook(ms));
  dispatcher.madeRoom();
  goOn();
  await untilSent(WINDOW);
  await eventually(() => expect(rounds).toBe(3));
});

test("Where enough is Sent ahead of the workers, room is filled 40 times a second at most; what else happens is looked at at once", async () => {
  await putTaskService(db, { workers: 36 });
  const ahead = 10; // a quarter of 40 workers
  await putReady(db, 400);
  dispatcher.wake();
  await untilSent(40 + ahead);
  const endSome = async (count: number) => {
    await end(count);
    sent.splice(0, count);
  };
  const beganMs = performance.now();
  const before = rounds;
  const ENDS = 100;
  for (let i = 0; i < ENDS; i += 1) {
    await endSome(1);
    dispatcher.madeRoom();
    await sleep(10); // so that of the ten ahead few are gone with each look
  }
  const most = (performance.now() - beganMs) / REFILL_MS + 10; // one a second by itself, and some until it knows how little was taken
  expect(rounds - before).toBeLessThanOrEqual(most);
  withoutTimers(() => true);
  await sleep(4 * REFILL_MS); // what was begun before comes still
  const roundOf = async (act: () => void) => {
    const roundsBefore = rounds;
    act();
    await eventually(() => expect(rounds).toBeGreaterThan(roundsBefore));
    await sleep(2 * REFILL_MS);
    return rounds;
  };
  await endSome(4);
  const roundsBefore = await roundOf(() => dispatcher.wake()); // it has taken some, and not many
  await endSome(1);
  dispatcher.madeRoom();
  await sleep(2 * REFILL_MS);
  expect(rounds).toBe(roundsBefore);
  await roundOf(() => dispatcher.wake()); // as for something urgent
});

test("Of what takes nearly a turn two go together where no worker is free, and each alone where all are", async () => {
  await putTaskService(db, { workers: 36, meanMs: 60 });
  await putReady(db, 100);
  await sleep(300); // how long tasks take is looked at each quarter of a second
  dispatcher.wake();
  await eventually(() => expect(bundles.length).toBeGreaterThanOrEqual(50)); // for 40 workers, with a quarter ahead
  await end(4);
  dispatcher.wake();
  await eventually(() => expect(bundles.slice(50)).toContain(2));
  expect(bundles.slice(0, 50)).toEqual(Array(50).fill(1));
});

/** They come after one that had this result. */
async function putInputs(output: string): Promise<void> {
  const flowId = randomUUID();
  await db.query("UPDATE tasks SET flow_id = $1, flow_ref = 'reader'", [flowId]);
  await db.query("INSERT INTO flow_edges (flow_id, after, ref) VALUES ($1, 'source', 'reader')", [flowId]);
  await db.query(
    `INSERT INTO flow_tasks (flow_id, ref, place, task_id, type, params, pool, priority, on_failure, max_output_bytes, followers, waiting,
       status, output, ended_at)
     VALUES ($1, 'source', 0, gen_random_uuid(), 'work', '{}', 'default', 0, 'fail', 1048576, 1, 0, 'Completed', $2, now())`,
    [flowId, JSON.stringify(output)],
  );
}

test("What one claim does not read is sent by the next ones at once, though nothing ends", async () => {
  const count = 40;
  await putTaskService(db, { workers: count });
  await putReady(db, count);
  await putInputs("x".repeat(1_000_000)); // of which a claim reads 16 MiB
  withoutTimers(isOwnLook);
  dispatcher.wake();
  await untilSent(count);
});

test("Behind a limit something may wait, so an end has it look", async () => {
  await changeLimits(db, "work", { maxRunning: 2 });
  await putReady(db, 10);
  dispatcher.wake();
  await untilSent(2);
  withoutTimers((ms) => ms === REFILL_MS || ms === 50 || isOwnLook(ms));
  for (const count of [4, 6]) {
    await end(sent.length);
    dispatcher.madeRoom();
    await untilSent(count);
  }
});

test("What another manager has left waiting is sent by the one that reads the ends", async () => {
  await putReady(db, 4 * WINDOW); // nobody tells this one
  withoutTimers(isOwnLook);
  const other = new PostgresTaskQueueStore(db);
  const { tasks } = await other.claim("default", { window: WINDOW, workers: WORKERS, types: ["work"] });
  await db.query("DELETE FROM tasks WHERE id = ANY($1)", [tasks.map(({ task }) => task.taskId)]);
  for (const count of [WINDOW, 2 * WINDOW, 3 * WINDOW]) {
    dispatcher.madeRoom();
    await untilSent(count);
    await end(sent.length);
  }
});
