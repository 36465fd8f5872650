import type { TakenTask, TaskId } from "@unacked/contracts";
import { EntityManager } from "typeorm";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { PostgresTaskBulkStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/task-bulk-store.ts";
import { PostgresTaskFailureStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/task-failure-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog, SOMEBODY } from "../support/servers/books.ts";
import { interrupted } from "../support/servers/interrupted.ts";
import { untilWait } from "../support/servers/lock-waits.ts";

/* What is over is retried while others are at it, or have its key. */

const tokens = roleTokens();
const access = () => ({ callers: callersOf(tokens.list, keptLog()) });
const { books, manager } = useHttpManager({
  emptied: "tasks, ended_tasks, task_types, task_services, audit, task_figures, task_figure_deltas",
  access,
});

let takers: Takers;

const as = (role: "operator" | "admin") => ({ headers: bearer(tokens.of[role]) });
const post = (path: string, json?: object) =>
  manager.call("POST", `/api/v1${path}`, { ...(json && { json }), ...as("operator") });
const cancel = (id: string) => manager.call("DELETE", `/api/v1/tasks/${id}`, as("operator"));
const retrying = () => newAction("task.retry", SOMEBODY);

beforeEach(async () => {
  takers = new Takers((method, path, options) => manager.call(method, path, { ...options, ...as("operator") }));
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { outside: true }, ...as("admin") });
});

async function failed(more: object = {}): Promise<TaskId> {
  const { id } = await takers.create(more);
  await takers.fail(await takers.takeOne(), { retryable: false });
  return id as TaskId;
}

/** One that is Failed, and another that has its key now, and is taken. */
async function failedBesideWinner(): Promise<{ id: TaskId; winner: TakenTask }> {
  const id = await failed({ key: "wall" });
  await takers.create({ key: "wall" });
  return { id, winner: await takers.takeOne() };
}

/** The books, in which this one is over right before somebody looks whose the key is. */
const whenItEnds = (winner: TakenTask) =>
  interrupted(
    books.dataSource,
    (text) => text.startsWith("SELECT id FROM tasks WHERE type"),
    async () => expect((await takers.complete(winner)).status).toBe(200),
  );

test("Who retries a task is told that it runs again only where it does, also when the one that had its key ends just then", async () => {
  const { id, winner } = await failedBesideWinner();
  expect((await post(`/tasks/${id}/retry`)).body).toMatchObject({ code: "key-taken", taskId: winner.id });
  const outcome = await new PostgresTaskStore(whenItEnds(winner)).retry(id, retrying());
  expect([outcome.kind, (await takers.get(id)).status]).toEqual(["retried", "Ready"]);
});

test("Who has told an end is answered when he tells it again, also where the task was retried meanwhile", async () => {
  const { id } = await takers.create();
  const taken = await takers.takeOne();
  await takers.fail(taken, { retryable: false });
  expect((await post(`/tasks/${id}/retry`)).status).toBeLessThan(300);
  expect(await takers.fail(taken, { retryable: false })).toMatchObject({
    status: 200,
    body: { status: "Ready", taken: { by: "an-operator", until: null } },
  });
  expect(await takers.takeOne()).toMatchObject({ id, attempt: 1 });
  expect((await takers.fail(taken)).body).toMatchObject({ status: "Running", failures: 0 });
});

test("A retry with other params is refused only where another has the key still", async () => {
  const { id, winner } = await failedBesideWinner();
  const outcome = await new PostgresTaskFailureStore(whenItEnds(winner)).retryWith(id, { a: 1 }, retrying());
  expect([outcome.kind, (await takers.get(id)).status]).toEqual(["retried", "Ready"]);
  expect((await takers.get(id)).params).toEqual({ a: 1 });
});

test("A retry of what is Failed leaves alone what somebody has retried and cancelled meanwhile", async () => {
  const id = await failed();
  const bulk = new PostgresTaskBulkStore(books.dataSource);
  const target = { statuses: ["Failed" as const], type: "paint", pool: "default" };
  expect(await bulk.find("retry", target, 100)).toEqual([id]);
  expect((await post(`/tasks/${id}/retry`)).status).toBeLessThan(300);
  expect((await cancel(id)).status).toBeLessThan(300);
  for (const which of [target, { type: "paint" }]) {
    expect(await bulk.find("retry", which, 100)).toEqual([]);
    expect(await bulk.retryMany([id], which, retrying())).toBe(0);
  }
  expect(await bulk.find("retry", { statuses: ["Running"] }, 100)).toEqual([]);
  expect((await takers.get(id)).status).toBe("Cancelled");
  expect(await bulk.retryMany([id], { statuses: ["Cancelled"] }, retrying())).toBe(1);
});

test("A retry of all that match is not filled by those whose key another has, which stay as they are", async () => {
  const bulk = new PostgresTaskBulkStore(books.dataSource);
  const keyed = [await failed({ key: "wall" }), await failed({ key: "wall" })];
  const keyless = await failed();
  const target = { type: "paint" };
  expect((await bulk.find("retry", target, 100)).toSorted()).toEqual([...keyed, keyless].toSorted());
  await takers.create({ key: "wall" });
  expect(await bulk.find("retry", target, 2)).toEqual([keyless]);
  expect(await bulk.find("retry", { ids: keyed }, 100)).toHaveLength(2); // who names them is told that they do not run again
});

test("A retry of a kind of failure is not filled by those whose key another has either", async () => {
  const older = await failed();
  await failed({ key: "wall" });
  const failures = new PostgresTaskFailureStore(books.dataSource);
  const newest = async () => (await failures.errorsOf("paint", 1)).map(({ id }) => id);
  expect(await newest()).not.toContain(older);
  await takers.create({ key: "wall" });
  expect(await newest()).toEqual([older]);
});

test("A retry of many goes on beside a key that somebody's open transaction keeps, and one alone is told of it", {
  timeout: 60_000,
}, async () => {
  const [kept, free, keyless] = [await failed({ key: "one" }), await failed({ key: "two" }), await failed()];
  const app = books.dataSource.createQueryRunner();
  await app.startTransaction();
  try {
    await app.query("SELECT unacked_create_task('paint', '{}', key => 'one')");
    const { status, body } = await post("/tasks/retry", { filter: { type: "paint" } });
    expect([status, body]).toMatchObject([200, { matched: 3, accepted: 2 }]);
    for (const id of [free, keyless]) expect((await takers.get(id)).status).toBe("Ready");
    const alone = await Promise.all([post(`/tasks/${kept}/retry`), post(`/tasks/${kept}/retry-with`, { params: {} })]);
    for (const one of alone) {
      expect([one.status, one.body.code]).toEqual([503, "database-unavailable"]);
      expect(one.body.detail).toContain('the key "one"');
    }
    expect((await takers.get(kept)).status).toBe("Failed");
  } finally {
    await app.rollbackTransaction();
    await app.release();
  }
  expect((await post(`/tasks/${kept}/retry`)).status).toBeLessThan(300);
});

test("A retry of many of which somebody keeps one key looks at the others together", { timeout: 60_000 }, async () => {
  await books.dataSource.query(`
    INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, created_at, ended_at, key)
    SELECT gen_random_uuid(), 'paint', '{}', 'default', 0, 'Failed', now(), 1, 0, 0, 1, now(), now(), 'wall-' || i FROM generate_series(1, 250) i`);
  const ids = (await books.dataSource.query<{ id: TaskId }[]>("SELECT id FROM ended_tasks")).map(({ id }) => id);
  const app = books.dataSource.createQueryRunner();
  await app.startTransaction();
  onTestFinished(() => app.release());
  await app.query("SELECT unacked_create_task('paint', '{}', key => 'wall-7')");
  const query = vi.spyOn(EntityManager.prototype, "query");
  onTestFinished(() => query.mockRestore());
  expect(await new PostgresTaskBulkStore(books.dataSource).retryMany(ids, { ids }, retrying())).toBe(249);
  await app.rollbackTransaction();
  const tries = query.mock.calls.filter(([sql]) => sql.includes("WITH found AS")).length;
  expect(tries).toBeLessThan(110); // all at once, three portions, and one portion one by one
});

test("A retry waits for a table that is locked, which is nobody's key", { timeout: 60_000 }, async () => {
  const id = await failed();
  const index = books.dataSource.createQueryRunner();
  await index.startTransaction();
  onTestFinished(() => index.release());
  await index.query("LOCK TABLE tasks IN SHARE MODE");
  const outcome = post(`/tasks/${id}/retry`);
  await untilWait(books.dataSource);
  const limits =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'LOCK TABLE%'";
  const isUnlimited = async () => (await books.dataSource.query<unknown[]>(limits)).length > 0;
  const over = outcome.then(() => true);
  while (!(await Promise.race([isUnlimited(), over])));
  await index.rollbackTransaction();
  expect((await outcome).status).toBeLessThan(300);
});

test("Who retries a task without a key that somebody has is told so", { timeout: 60_000 }, async () => {
  const id = await failed();
  const somebody = books.dataSource.createQueryRunner();
  await somebody.startTransaction();
  onTestFinished(() => somebody.release());
  await somebody.query("SELECT FROM ended_tasks WHERE id = $1 FOR UPDATE", [id]);
  for (const { status, body } of [await post(`/tasks/${id}/retry`), await post(`/tasks/${id}/retry-with`, { params: {} })]) {
    expect([status, body.code]).toEqual([503, "database-unavailable"]);
    expect(body.detail).toContain(`Somebody's transaction that has not ended has the task ${id}.`);
  }
  await somebody.rollbackTransaction();
});
