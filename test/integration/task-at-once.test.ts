import { type ChangeTaskType, CreateTask, newTaskId, type StartTask, type TaskId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import {
  BEFORE_AT_ONCE,
  INSERT_AT_ONCE,
} from "../../services/observer-manager/src/adapters/postgres/tasks/creations/task-insert-statements.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import type { Bundle } from "../../services/observer-manager/src/domain/tasks/bundles.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import {
  insertAtOnce,
  type SenderAtOnce,
} from "../../services/observer-manager/src/operations/tasks/dispatch/insert-at-once.ts";
import { TaskDispatcher } from "../../services/observer-manager/src/operations/tasks/dispatch/task-dispatcher.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { keptLog, SOMEBODY, useBooks } from "../support/servers/books.ts";
import { WAITING } from "../support/servers/lock-waits.ts";
import { changeLimits } from "../support/system/limits.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* Tasks that are Sent as they are created, as a worker is free for them. */

const books = useBooks("tasks, ended_tasks, task_types, task_services, task_figure_deltas, audit");
let db: DataSource;
let store: PostgresTaskStore;
let published: StartTask[];
let sender: SenderAtOnce;
let batches: Map<string, number>;

const WINDOW = 10;

beforeAll(() => {
  db = books.dataSource;
  store = new PostgresTaskStore(db);
});

beforeEach(() => {
  published = [];
  batches = new Map();
  sender = {
    atOnce: (pool) => ({ pool, window: WINDOW, types: ["a", "b"], batches }),
    sent: (_, tasks) => published.push(...tasks),
    during: (work) => work,
  };
});

type Wish = Partial<CreateTask> & { hasNewId?: true };

const create = (...wishes: Wish[]) => createAs({}, ...wishes);

/** @param about of all of these */
const createAs = ({ isShown = true, hasNewId }: { isShown?: boolean; hasNewId?: true | undefined }, ...wishes: Wish[]) => {
  const action = newAction("task.create", SOMEBODY);
  const tasks = wishes.map((wish) => ({
    task: {
      ...CreateTask.parse({ type: "a", params: { is: "odd" } }),
      id: newTaskId(),
      ...(hasNewId && { hasNewId }),
      ...wish,
    },
    action,
    isShown,
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

test.each([true, undefined] as const)(
  "Each is told what it has become, and is in the books as it was asked for: ids made here %s",
  async (hasNewId) => {
    const later = new Date(Date.now() + 60_000).toISOString();
    const wishes = [{ type: "b" }, { startAt: later, priority: 3 }, { params: { place: 2 } }, { startAt: later }, {}];
    for (const sent of ["Sent", "Ready"]) {
      const outcomes = await createAs({ hasNewId }, ...wishes);
      const inBooks = await db.query<
        { id: string; status: string; type: string; priority: number; params: object; send_id: string | null }[]
      >("SELECT id, status, type, priority, params, send_id FROM tasks");
      const byId = new Map(inBooks.map((row) => [row.id, row]));
      const told = outcomes.map((outcome) => {
        if (outcome.kind !== "created") throw new Error("it was not created");
        const { status, type, priority, params } = outcome.task();
        return { id: outcome.id, status, type, priority, params, send_id: outcome.sendId };
      });
      expect(told).toEqual(told.map(({ id }) => byId.get(id)));
      expect(told.map(({ status }) => status)).toEqual([sent, "Scheduled", sent, "Scheduled", sent]);
      expect(told.map(({ type, priority }) => [type, priority])).toEqual([
        ["b", 0],
        ["a", 3],
        ["a", 0],
        ["a", 0],
        ["a", 0],
      ]);
      await putReady(db, 1, { type: "a" }); // the next ones wait behind it
    }
  },
);

test("As many as there is room for are Sent together; of more than that none is", async () => {
  await create(...many(WINDOW - 1));
  expect([await statuses(), published.length]).toEqual([["Sent"], WINDOW - 1]);
  await create(...many(2));
  expect([await statuses(), published.length]).toEqual([["Ready", "Sent"], WINDOW - 1]);
});

test("Of a type that takes batches the window has room for as many calls, and those that are Sent together are counted together", async () => {
  batches = new Map([["a", 4]]);
  await create(...many(6), ...many(2, { type: "b" })); // two calls, and two tasks that are alone
  await create(...many(4 * (WINDOW - 4) + 1)); // one call more than there is room for
  expect(await rows("status = 'Ready'")).toHaveLength(4 * (WINDOW - 4) + 1);
  await db.query("DELETE FROM tasks WHERE status = 'Ready'");
  await create(...many(4 * (WINDOW - 5)));
  expect([await statuses(), published.length]).toEqual([["Sent"], 8 + 4 * (WINDOW - 5)]);
  await create({ type: "b" });
  await create({ type: "b" });
  expect((await rows("type = 'b'")).map(({ status }) => status).toSorted()).toEqual(["Ready", "Sent", "Sent", "Sent"]);
  expect(new Set((await rows("status = 'Sent'")).map(({ sent_at: at }) => Number(at))).size).toBe(3);
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

test("What is due, and was not made Ready yet, is not overtaken either", async () => {
  await putReady(db, 1, { pool: "elsewhere" });
  await db.query("UPDATE tasks SET status = 'Scheduled', due_at = now() - interval '1 second'");
  await create({ priority: 9 });
  expect(published).toEqual([]);
});

test("The most urgent is published first, and of those what was due before", async () => {
  const startAt = (agoMs: number) => new Date(Date.now() - agoMs).toISOString();
  await create(
    { priority: 1 },
    { startAt: startAt(1_000) },
    { priority: 5 },
    { startAt: startAt(5_000) },
    {},
    { priority: 5 },
  );
  const asked = (await rows()).length;
  const urgencies = await db.query<{ id: string; priority: number }[]>(
    "SELECT id, priority FROM tasks ORDER BY priority DESC, due_at",
  );
  expect([asked, published.map(({ taskId }) => taskId).slice(2)]).toEqual([6, urgencies.slice(2).map(({ id }) => id)]);
  expect(
    urgencies
      .slice(0, 2)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(
    published
      .slice(0, 2)
      .map(({ taskId }) => taskId)
      .toSorted(),
  );
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

test("The same id twice is told apart where nothing is shown, too", async () => {
  const id = newTaskId();
  expect(await createAs({ isShown: false }, { id }, { id })).toMatchObject([{ kind: "created" }, { kind: "exists" }]);
});

test.each([true, undefined] as const)(
  "Each has a send of its own, and is shown as it stands in the books (ids made here: %s)",
  async (hasNewId) => {
    const times = [undefined, "2020-02-03T04:05:06.789123+02:00", new Date(Date.now() + 3_600_000).toISOString()];
    const wishes = times.map((startAt) => ({ ...(startAt !== undefined && { startAt }) }));
    const outcomes = await createAs({ hasNewId }, ...wishes, ...many(5));
    const shown = outcomes.flatMap((outcome) => ("task" in outcome ? [outcome.task()] : []));
    const found = await Promise.all(shown.map(({ id }) => store.find(id as TaskId)));
    expect(shown).toHaveLength(8);
    for (const [i, { waitsFor: _, ...task }] of shown.entries()) expect(found[i]).toMatchObject(task);
    const sends = (await rows("status = 'Sent'")).map(({ send_id: send }) => send);
    expect(new Set(sends).size).toBe(7);
  },
);

test("Those of several pools wait to be claimed", async () => {
  await create({ pool: "default" }, { pool: "elsewhere" });
  expect([await statuses(), published]).toEqual([["Ready"], []]);
});

test("A limit holds from its answer on: whoever is being sent meanwhile is counted, or waits", async () => {
  for (let round = 0; round < 20; round += 1) {
    await db.query("TRUNCATE tasks, task_types");
    await putReady(db, 1, { type: "a", pool: "elsewhere" });
    sender = { ...sender, atOnce: (pool) => ({ pool, window: 100_000, types: ["a"], batches }) };
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

test.runIf(isTurnOf(1))(
  "A manager that is frozen before the commit holds up no claim, and a change of limits for five seconds",
  async () => {
    await putReady(db, 5, { type: "a", pool: "elsewhere" });
    await changeLimits(db, "a", { maxRunning: 3 });
    const frozen = db.createQueryRunner();
    await frozen.startTransaction();
    const id = newTaskId();
    const ask = [[id], ["b"], ["{}"], ["default"], [0], [null], [null], [null], [null], "default", WINDOW, ["a", "b"]];
    for (const before of BEFORE_AT_ONCE) await frozen.query(before);
    expect(await frozen.query(INSERT_AT_ONCE.any, ask)).toMatchObject([{ id, status: "Ready" }]);
    const asked = { window: WINDOW, workers: WINDOW, types: ["a"] };
    const fromMs = performance.now();
    expect((await new PostgresTaskQueueStore(db).claim("elsewhere", asked)).tasks).toHaveLength(3);
    expect(performance.now() - fromMs).toBeLessThan(4_000);
    await changeLimits(db, "a", { maxRunning: null });
    expect(performance.now() - fromMs).toBeGreaterThan(4_000);
    await frozen.release().catch(() => undefined); // PostgreSQL has ended it
    expect(await rows("pool = 'default'")).toEqual([]);
  },
);

/** A dispatcher of a pool with four workers, which knows of them. */
async function dispatching({
  isReady = (): boolean => true,
  isWaitedFor = (): boolean => false,
  type = "a",
  batch = undefined as number | undefined,
} = {}) {
  await putTaskService(db, { workers: 4, types: [type], batch });
  const sent: StartTask[] = [];
  const bundles: number[] = [];
  let refused = 0;
  const looked = { served: 0, paces: 0 };
  class Queue extends PostgresTaskQueueStore {
    override async servedPools() {
      const pools = await super.servedPools();
      looked.served += 1;
      return pools;
    }
    override async paces() {
      const paces = await super.paces();
      looked.paces += 1;
      return paces;
    }
    override async outlook() {
      const outlook = await super.outlook();
      looked.served += 1;
      looked.paces += 1;
      return outlook;
    }
  }
  const broker = {
    ready: () => Promise.resolve(),
    get isReady() {
      return isReady();
    },
    async send({ tasks }: Bundle) {
      await db.query("SELECT");
      if (refused > 0) {
        refused -= 1;
        return "not-taken" as const;
      }
      sent.push(...tasks);
      bundles.push(tasks.length);
      return "sent" as const;
    },
    cancel: () => Promise.resolve(),
  };
  const parts = { store: new Queue(db), sender: broker, promoted: () => undefined, isWaitedFor, log: keptLog() };
  const dispatcher = new TaskDispatcher(parts);
  sender = dispatcher;
  dispatcher.start();
  onTestFinished(() => dispatcher.stop());
  const looks = () => Math.min(looked.served, looked.paces); // two connections ask
  const untilLooked = async () => {
    const before = looks();
    await eventually(() => expect(looks()).toBeGreaterThan(before));
    await db.query("SELECT");
  };
  await untilLooked();
  const may = (pool: string, count = 1, of = type) => dispatcher.atOnce(pool, new Map([[of, count]]))?.window;
  return { dispatcher, sent, bundles, untilLooked, may, refuse: () => void (refused = 1) };
}

test("The dispatcher publishes what was Sent, and nothing is Sent for a pool without services, nor once it has stopped", async () => {
  const { dispatcher, sent, may } = await dispatching();
  expect([4, 5, 6].map((count) => may("default", count))).toEqual([5, 5, undefined]);
  await create({});
  await eventually(() => expect(sent).toMatchObject([{ type: "a", pool: "default", sends: 1, params: { is: "odd" } }]));
  await create({ pool: "elsewhere" });
  expect(await rows("pool = 'elsewhere'")).toMatchObject([{ status: "Ready" }]);
  await dispatcher.stop();
  await create({});
  expect([await rows("pool = 'default' AND status = 'Ready'"), sent]).toMatchObject([[{}], [{}]]);
});

test("Of a type that takes batches calls are full; fewer than one takes are claimed, with what else waits by then", async () => {
  const { bundles, may } = await dispatching({ batch: 3 });
  expect([1, 2, 3, 15, 16].map((count) => may("default", count))).toEqual([undefined, undefined, 5, 5, undefined]);
  await create(...many(6));
  expect(await statuses()).toEqual(["Sent"]);
  await eventually(() => expect(bundles).toEqual([3, 3]));
  await create({});
  await eventually(() => expect(bundles).toEqual([3, 3, 1]));
});

test("No more than 2,000 are sent by one insert, nor any where to count the calls in flight more than 50,000 might be read", async () => {
  await putTaskService(db, { pool: "wide", workers: 100, types: ["a"], batch: 100 });
  await putTaskService(db, { pool: "wider", workers: 1_000, types: ["a"], batch: 100 });
  const { may } = await dispatching();
  expect([2_000, 2_001].map((count) => may("wide", count))).toEqual([125, undefined]);
  expect(may("wider", 100)).toBeUndefined();
});

test("What is due later does not fill a call", async () => {
  const { bundles } = await dispatching({ batch: 3 });
  const startAt = new Date(Date.now() + 60_000).toISOString();
  const told: number[] = [];
  const { atOnce } = sender;
  sender = Object.assign(Object.create(sender) as SenderAtOnce, {
    atOnce: (pool: string, counts: ReadonlyMap<string, number>) => {
      told.push(...counts.values());
      return atOnce.call(Object.getPrototypeOf(sender), pool, counts);
    },
  });
  await create({}, ...many(2, { startAt }));
  await create(...many(3, { startAt }));
  await eventually(() => expect(bundles).toEqual([1]));
  expect(told).toEqual([1]);
});

test("A call that was claimed and has room leaves nothing that could have been sent: the pool is tried", async () => {
  await putReady(db, 10, { type: "a" });
  const { bundles, may } = await dispatching({ batch: 3 });
  await eventually(() => expect(bundles.toSorted()).toEqual([1, 3, 3, 3]));
  await eventually(() => expect(may("default", 3)).toBe(5));
});

test.each([
  ["tasks", 1],
  ["full calls", 3],
])("Two managers that create %s at once fill the window once more at most, and send each task once", async (_, size) => {
  const batch = size === 1 ? undefined : size;
  const both = [await dispatching({ batch }), await dispatching({ batch })] as const;
  await both[0].untilLooked();
  const window = both[0].may("default", size) as number;
  const action = newAction("task.create", SOMEBODY);
  const createMany = async ({ dispatcher }: (typeof both)[number]) => {
    for (let i = 0; i < 2 * window; i += 1) {
      const call = many(size).map(() => ({ task: { ...CreateTask.parse({ type: "a" }), id: newTaskId() }, action }));
      await insertAtOnce({ store, sender: dispatcher }, call);
    }
  };
  await Promise.all(both.map(createMany));
  const inFlight = async () => (await rows("status = 'Sent'")).length;
  both[0].dispatcher.wake(); // where an insert was slow, the next ones wait to be claimed
  await eventually(async () => expect(await inFlight()).toBeGreaterThanOrEqual(size * window));
  expect(await inFlight()).toBeLessThanOrEqual(2 * size * window);
  const sentIds = () => both.flatMap(({ sent }) => sent.map(({ taskId }) => taskId)).toSorted();
  await eventually(async () => expect(sentIds()).toEqual((await rows("status = 'Sent'")).map(({ id }) => id).toSorted()));
});

test("A message that is not taken is given back, and sent again", async () => {
  const { dispatcher, sent, refuse } = await dispatching();
  refuse();
  await create({});
  dispatcher.wake();
  await eventually(() => expect(sent).toMatchObject([{ sends: 2 }]));
});

test("A pool that says to have more workers than there can be is sent to all the same", async () => {
  await putTaskService(db, { workers: 2_147_483_647, types: ["b"] });
  const { sent, may } = await dispatching();
  expect(may("default")).toBeGreaterThan(0);
  await create({});
  await putReady(db, 1, { type: "a" });
  await eventually(() => expect(sent).toHaveLength(2));
});

test("Whoever stops it waits for what is being inserted, and for its message", async () => {
  const { dispatcher, sent } = await dispatching();
  const created = create({});
  await dispatcher.stop();
  expect([sent.length, await statuses()]).toEqual([1, ["Sent"]]);
  await created;
});

test("A pool in which some are left is not tried, and others are", async () => {
  await putReady(db, 10, { type: "a" });
  await putTaskService(db, { pool: "elsewhere", types: ["a"] });
  const { may } = await dispatching();
  await eventually(async () => expect(await rows("status = 'Sent'")).toHaveLength(5));
  await eventually(() => expect([may("default"), may("elsewhere")]).toEqual([undefined, 13]));
});

test("A pool with a limited type is not tried, once that is known", async () => {
  await putReady(db, 1, { type: "a", pool: "elsewhere" });
  await changeLimits(db, "a", { maxRunning: 100 });
  const { may, untilLooked } = await dispatching();
  expect(may("default")).toBeUndefined();
  await changeLimits(db, "a", { maxRunning: null });
  await untilLooked();
  await eventually(() => expect(may("default")).toBe(5));
});

test("Where an insert was slow it is tried for a tenth of the time", async () => {
  const { dispatcher, may } = await dispatching();
  dispatcher.sent("default", [], { count: 1, tookMs: 50 });
  expect(may("default")).toBe(5);
  dispatcher.sent("default", [], { count: 1, tookMs: 60 });
  const fromMs = performance.now();
  expect(may("default")).toBeUndefined();
  await eventually(() => expect(may("default")).toBe(5));
  expect(performance.now() - fromMs).toBeGreaterThan(500);
});

test("Where an insert has waited for whoever has an id, or the table, it is tried again at once", async () => {
  const { may } = await dispatching();
  const id = newTaskId();
  const shop = db.createQueryRunner();
  onTestFinished(() => shop.release());
  await shop.startTransaction();
  await shop.query("SELECT unacked_create_task('a', '{}', id => $1)", [id]);
  expect(await create({ id })).toMatchObject([{ kind: "held-up" }]);
  expect(may("default")).toBe(5);
  await shop.rollbackTransaction();
  await shop.startTransaction();
  await shop.query("LOCK TABLE tasks IN SHARE MODE");
  const created = create({ id });
  await eventually(async () => expect(await db.query(`${WAITING} AND query LIKE 'LOCK TABLE tasks%'`)).toHaveLength(1));
  await shop.commitTransaction();
  expect(await created).toMatchObject([{ kind: "created", sendId: null }]);
  expect(may("default")).toBe(5);
});

test("While the broker cannot be sent to, or somebody waits to take one of the type, nothing is Sent", async () => {
  let isUp = false;
  let isWaited = false;
  const { may } = await dispatching({ isReady: () => isUp, isWaitedFor: () => isWaited });
  await create({});
  expect([await statuses(), may("default")]).toEqual([["Ready"], undefined]);
  isUp = true;
  await eventually(() => expect(may("default")).toBe(5));
  isWaited = true;
  expect(may("default")).toBeUndefined();
});
