import { randomUUID } from "node:crypto";
import type { QueryRunner } from "typeorm";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { CANCELLED } from "../../services/observer-manager/src/adapters/postgres/tasks/ended-task-rows.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog } from "../support/servers/books.ts";
import { untilWait } from "../support/servers/lock-waits.ts";

/* What a transaction wants of another task's key is granted as it commits; an id has one task all the same. */

const tokens = roleTokens();
const { books, manager } = useHttpManager({
  emptied: "tasks, ended_tasks, task_types, task_wishes, audit, task_figure_deltas",
  access: () => ({ callers: callersOf(tokens.list, keptLog()) }),
});

let takers: Takers;
let id: string;
/** Has the key that all want. */
let holder: Awaited<ReturnType<Takers["takeOne"]>>;

beforeEach(async () => {
  takers = new Takers((method, path, options) =>
    manager.call(method, path, { ...options, headers: bearer(tokens.of.operator) }),
  );
  id = randomUUID();
  const limits = { json: { outside: true }, headers: bearer(tokens.of.admin) };
  expect((await manager.call("PATCH", "/api/v1/task-types/paint", limits)).status).toBe(200);
  await takers.create({ key: "wall" });
  holder = await takers.takeOne();
});

/** An application's transaction. */
async function begin(): Promise<QueryRunner> {
  const runner = books.dataSource.createQueryRunner();
  await runner.startTransaction();
  onTestFinished(async () => {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  });
  return runner;
}

const create = async (app: QueryRunner, onConflict = "queue-latest"): Promise<string> => {
  const asked = "SELECT outcome FROM unacked_create_task('paint', '{}', key => 'wall', on_conflict => $2, id => $1)";
  const [row] = await app.query(asked, [id, onConflict]);
  return row.outcome;
};
/** What the audit trail says that applications created, or changed: the ids of the tasks. */
const recorded = async (): Promise<string[]> => {
  const trail = "SELECT targets->0->>'id' AS id FROM audit WHERE authentication = 'database'";
  return (await books.dataSource.query<{ id: string }[]>(trail)).map((row) => row.id);
};
const created = async () => {
  const rows = await books.dataSource.query<{ n: number }[]>("SELECT sum(created)::int AS n FROM task_figure_deltas");
  return rows[0]?.n;
};
const left = () => books.dataSource.query("SELECT id FROM tasks UNION ALL SELECT id FROM task_wishes");

/** The same request, by one who has no answer and asks again. */
async function askTwice(): Promise<QueryRunner> {
  const [first, second] = [await begin(), await begin()];
  expect([await create(first), await create(second)]).toEqual(["queued", "queued"]);
  await takers.complete(holder);
  await first.commitTransaction();
  return second;
}

test("A wish whose id has had its task creates none", async () => {
  const second = await askTwice();
  const task = await takers.takeOne();
  expect(task.id).toBe(id);
  await takers.complete(task);
  await second.commitTransaction();
  expect(await left()).toEqual([]);
  expect(await created()).toBe(2);
  expect(await recorded()).toEqual([id]);
});

test("A wish whose id has its task, which runs, does not let it run again", async () => {
  const second = await askTwice();
  const task = await takers.takeOne();
  await second.commitTransaction();
  expect(task.id).toBe(id);
  await takers.complete(task);
  expect(await left()).toEqual([]);
});

test("A wish whose id has had its task changes none that has the key by then", async () => {
  const second = await askTwice();
  await takers.complete(await takers.takeOne());
  await takers.create({ key: "wall" });
  const task = await takers.takeOne();
  await second.commitTransaction();
  expect(task.id).not.toBe(id);
  await takers.complete(task);
  expect(await left()).toEqual([]);
});

test("A wish whose id has had its task while the wish waited for it is taken back", async () => {
  const [first, second] = [await begin(), await begin()];
  expect(await create(second)).toBe("queued");
  await takers.complete(holder);
  expect(await create(first)).toBe("created");
  const granted = second.commitTransaction();
  granted.catch(() => undefined); // awaited below
  await untilWait(books.dataSource);
  await first.query(CANCELLED, [[id]]);
  await first.commitTransaction();
  await granted;
  expect(await left()).toEqual([]);
  expect(await created()).toBe(2);
});

test("A wish with an id that nobody has had is granted", async () => {
  const app = await begin();
  expect(await create(app)).toBe("queued");
  await takers.complete(holder);
  await app.commitTransaction();
  expect((await takers.takeOne()).id).toBe(id);
  expect(await recorded()).toEqual([id]);
});

test("A wish is told once in the audit trail, as done to the task that has the key at the commit", async () => {
  const app = await begin();
  expect(await create(app)).toBe("queued");
  expect(await recorded()).toEqual([]);
  await app.commitTransaction();
  expect(await recorded()).toEqual([holder.id]);
});

test("A wish to replace is told once, as done to the task that was replaced", async () => {
  await takers.complete(holder);
  const { id: waiting } = await takers.create({ key: "wall" });
  const app = await begin();
  expect(await create(app, "replace")).toBe("replaced");
  await app.commitTransaction();
  expect(await recorded()).toEqual([waiting]);
});

test("A task that is created at once is told once, and one that is there already is not told", async () => {
  await takers.complete(holder);
  for (const outcome of ["created", "exists"]) {
    const app = await begin();
    expect(await create(app)).toBe(outcome);
    await app.commitTransaction();
  }
  expect(await recorded()).toEqual([id]);
});

test("A wish waits for the commit, and locks no task until then, also after SET CONSTRAINTS ALL IMMEDIATE", async () => {
  const app = await begin();
  await app.query("SET CONSTRAINTS ALL IMMEDIATE");
  expect(await create(app)).toBe("queued");
  const lockable = await books.dataSource.query("SELECT id FROM tasks WHERE id = $1 FOR UPDATE SKIP LOCKED", [holder.id]);
  expect(lockable).toEqual([{ id: holder.id }]);
  await app.commitTransaction();
  expect(await recorded()).toEqual([holder.id]);
});
