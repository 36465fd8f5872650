import { type ChangeTaskType, CreateTask, newTaskId, type StartTask } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/postgres-task-store.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/task-days.ts";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/task-queue-store.ts";
import type { Bundle } from "../../services/observer-manager/src/domain/tasks/bundles.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { insertAtOnce, type SenderAtOnce } from "../../services/observer-manager/src/operations/tasks/insert-at-once.ts";
import { TaskDispatcher } from "../../services/observer-manager/src/operations/tasks/task-dispatcher.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, SOMEBODY, useBooks } from "../support/servers/books.ts";
import { changeLimits } from "../support/system/limits.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* Tasks that are Sent as they are created, as a worker is free for them. */

const books = useBooks("tasks, ended_tasks, task_types, task_services, task_figure_deltas, audit");
let db: DataSource;
let store: PostgresTaskStore;
let published: StartTask[];
let sender: SenderAtOnce;

const WINDOW = 10;

beforeAll(() => {
  db = books.dataSource;
  store = new PostgresTaskStore(db);
});

beforeEach(() => {
  published = [];
  sender = {
    atOnce: (pool) => ({ pool, window: WINDOW, types: ["a", "b"] }),
    sent: (_, tasks) => published.push(...tasks),
  };
});

type Wish = Partial<CreateTask> & { hasNewId?: true };

const create = (...wishes: Wish[]) => {
  const action = newAction("task.create", SOMEBODY);
  const tasks = wishes.map((wish) => ({
    task: { ...CreateTask.parse({ type: "a", params: { is: "odd" } }), id: newTaskId(), ...wish },
    action,
  }));
  return insertAtOnce({ store, sender }, tasks);
};

const many = (count: number, wish: Wish = {}): Wish[] => Array.from({ length: count }, () => wish);

const rows = (where = "true") =>
  db.query<{ id: string; status: string; send_id: string | null; sends: number; sent_at: Date | null }[]>(
    `SELECT id, status, send_id, sends, sent_at FROM tasks WHERE ${where}`,
  );

const statuses = async () => [...new Set((await rows()).map(({ status }) => status))].toSorted();

test("It is Sent in the transaction that creates it, shown so, and published with all that a claim would tell", async () => {
  const [outcome] = await create({ maxAttempts: 3, hasNewId: true });
  const [row] = await rows();
  expect(row).toMatchObject({ status: "Sent", sends: 1, sent_at: expect.any(Date) });
  if (outcome?.kind !== "created") throw new Error("it was not created");
  expect(outcome).toMatchObject({ id: row?.id, sendId: row?.send_id });
  expect(outcome.task()).toMatchObject({ status: "Sent", sends: 1, waitsFor: "worker" });
  await db.query("UPDATE tasks SET status = 'Ready', send_id = NULL, sends = 0");
  const asked = { window: WINDOW, workers: WINDOW, types: ["a"] };
  const [claimed] = (await new PostgresTaskQueueStore(db).claim("default", asked)).tasks;
  expect(published).toEqual([{ ...claimed?.task, sendId: row?.send_id }]);
});

test("As many as there is room for are Sent together; of more than that none is", async () => {
  await create(...many(WINDOW - 1));
  expect([await statuses(), published.length]).toEqual([["Sent"], WINDOW - 1]);
  await create(...many(2));
  expect([await statuses(), published.length]).toEqual([["Ready", "Sent"], WINDOW - 1]);
});

test("Where something waits in the pool, it waits, too, so that nobody is overtaken; what waits elsewhere, or later, is nothing to it", async () => {
  await putReady(db, 1, { pool: "elsewhere" });
  await create({ startAt: new Date(Date.now() + 60_000).toISOString() });
  await create({ priority: 9 });
  expect(published).toHaveLength(1);
  await putReady(db, 1, { type: "nobody has it", priority: -9 });
  await create({ priority: 9 });
  expect(published).toHaveLength(1);
});

test("What is due later waits for its time, and those beside it do not wait with it", async () => {
  const startAt = new Date(Date.now() + 60_000).toISOString();
  const [later, now] = await create({ startAt, hasNewId: true }, { hasNewId: true });
  expect(published.map(({ taskId }) => taskId)).toEqual([now?.kind === "created" && now.id]);
  expect(later).toMatchObject({ kind: "created", sendId: null });
  expect(await rows("status = 'Scheduled'")).toMatchObject([{ send_id: null, sends: 0, sent_at: null }]);
});

test.each<[string, ChangeTaskType]>([
  ["paused", { paused: true }],
  ["a most", { maxRunning: 1_000 }],
  ["a rate", { ratePerSecond: 1_000 }],
  ["a least", { minRunning: 1 }],
])("It waits where a type of the pool has %s, its own or another", async (_, change) => {
  await putReady(db, 1, { type: "b", pool: "elsewhere" }); // so that it is known
  await changeLimits(db, "b", change);
  await create({ type: "b" }, { type: "a" });
  await create({ type: "a" });
  expect([await statuses(), published]).toEqual([["Ready"], []]);
});

test("It waits where no service of the pool has its type", async () => {
  await create({ type: "a" }, { type: "strange" });
  expect([await statuses(), published]).toEqual([["Ready"], []]);
});

test("An id that has had its task is not sent again, and the same id twice is sent once", async () => {
  const id = newTaskId();
  await create({ id }, { id });
  expect(published).toHaveLength(1);
  await new PostgresTaskDays(db).makeAhead();
  await db.query(`INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, created_at, ended_at)
    SELECT id, type, params, pool, priority, 'Completed', due_at, 0, 0, 0, 1, created_at, now() FROM tasks`);
  await db.query("DELETE FROM tasks");
  expect(await create({ id, params: { is: "odd" } })).toMatchObject([{ kind: "exists", id }]);
  expect([published.length, await rows()]).toEqual([1, []]);
});

test("Those of several pools wait to be claimed", async () => {
  await create({ pool: "default" }, { pool: "elsewhere" });
  expect([await statuses(), published]).toEqual([["Ready"], []]);
});

test("A limit holds from its answer on: whoever is being sent meanwhile is counted, or waits", async () => {
  for (let round = 0; round < 20; round += 1) {
    await db.query("TRUNCATE tasks, task_types");
    await putReady(db, 1, { type: "a", pool: "elsewhere" });
    sender = { ...sender, atOnce: (pool) => ({ pool, window: 100_000, types: ["a"] }) };
    let answered = false;
    const creating = Array.from({ length: 3 }, async () => {
      while (!answered) await create({});
    });
    await changeLimits(db, "a", { paused: true });
    const before = (await rows("status = 'Sent'")).length;
    await create({});
    answered = true;
    await Promise.all(creating);
    expect(await rows("status = 'Sent'")).toHaveLength(before);
  }
});

/** A dispatcher of a pool with four workers. */
async function dispatching(isReady: () => boolean) {
  await putTaskService(db, { workers: 4, types: ["a"] });
  const sent: StartTask[] = [];
  const broker = {
    ready: () => Promise.resolve(),
    get isReady() {
      return isReady();
    },
    send({ tasks }: Bundle) {
      sent.push(...tasks);
      return Promise.resolve("sent" as const);
    },
    cancel: () => Promise.resolve(),
  };
  const queue = new PostgresTaskQueueStore(db);
  const dispatcher = new TaskDispatcher({ store: queue, sender: broker, promoted: () => undefined, log: keptLog() });
  sender = dispatcher;
  dispatcher.start();
  await eventually(() => expect(dispatcher.atOnce("default", new Set(["a"]), 1) !== undefined || !isReady()).toBe(true));
  return { dispatcher, sent };
}

test("The dispatcher publishes what was Sent, and nothing is Sent for a pool without services, nor once it has stopped", async () => {
  const { dispatcher, sent } = await dispatching(() => true);
  await create({});
  expect(sent).toMatchObject([{ type: "a", pool: "default", sends: 1, params: { is: "odd" } }]);
  await create({ pool: "elsewhere" });
  expect(await rows("pool = 'elsewhere'")).toMatchObject([{ status: "Ready" }]);
  expect([4, 5, 6].map((count) => dispatcher.atOnce("default", new Set(["a"]), count)?.window)).toEqual([5, 5, undefined]);
  await dispatcher.stop();
  await create({});
  expect([await rows("pool = 'default' AND status = 'Ready'"), sent]).toMatchObject([[{}], [{}]]);
});

test("While the broker cannot be sent to nothing is Sent", async () => {
  const { dispatcher } = await dispatching(() => false);
  await create({});
  expect(await statuses()).toEqual(["Ready"]);
  await dispatcher.stop();
});
