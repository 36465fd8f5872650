import { randomUUID } from "node:crypto";
import type { AuditEntry, TaskFailureGroups, TaskView } from "@unacked/contracts";
import { beforeEach, expect, test } from "vitest";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog } from "../support/servers/books.ts";

/* What is Failed, by REST, on a real database; tasks fail by workers outside. */

const tokens = roleTokens();
const access = () => ({ callers: callersOf(tokens.list, keptLog()) });
const { books, manager } = useHttpManager({
  emptied: "tasks, ended_tasks, task_types, task_services, audit, task_figures, task_figure_deltas",
  access,
});

const as = (role: "viewer" | "operator" | "admin") => ({ headers: bearer(tokens.of[role]) });
const post = (path: string, json: object) => manager.call("POST", `/api/v1${path}`, { json, ...as("operator") });
const groups = async (query = ""): Promise<TaskFailureGroups> =>
  (await manager.call("GET", `/api/v1/task-failures?${query}`, as("viewer"))).body;

let takers: Takers;

beforeEach(async () => {
  takers = new Takers((method, path, options) => manager.call(method, path, { ...options, ...as("operator") }));
  for (const type of ["paint", "sand"])
    await manager.call("PATCH", `/api/v1/task-types/${type}`, { json: { outside: true }, ...as("admin") });
});

async function failed(message: string, more: object = {}): Promise<string> {
  const { id, type } = await takers.create(more);
  const task = await takers.takeOne({ types: [type] });
  expect((await takers.fail(task, { error: { message }, retryable: false })).status).toBe(200);
  return id;
}

const SCHEMA = {
  type: "object",
  properties: { colour: { enum: ["red", "blue"] } },
  required: ["colour"],
  additionalProperties: false,
};
/** Of a service that lives and has it. */
const putService = () =>
  books.dataSource.query(
    `INSERT INTO task_services (id, generation, name, pool, workers, draining, types)
     VALUES (gen_random_uuid(), 1, 'a-service', 'default', 1, false, $1)`,
    [JSON.stringify([{ type: "paint", description: "", paramsSchema: SCHEMA }])],
  );

test("Failures of one cause are one group, and the group runs again as a whole, and nothing else", async () => {
  for (const wall of [1, 22, 333]) await failed(`wall ${wall} is wet`);
  const newest = await failed("wall 4444 is wet");
  await failed("no brush");
  await failed("wall 5 is wet", { type: "sand" });
  const { items, total, isComplete } = await groups();
  expect([total, isComplete]).toEqual([3, true]);
  expect(items[0]).toMatchObject({
    type: "paint",
    group: "Error: wall <n> is wet",
    count: 4,
    example: { id: newest, lastError: { message: "wall 4444 is wet" } },
  });
  expect((await groups("type=sand")).items).toHaveLength(1);
  const asked = { type: "paint", group: "Error: wall <n> is wet" };
  expect((await post("/task-failures/retry", { ...asked, dryRun: true })).body).toMatchObject({ matched: 4, accepted: 4 });
  expect((await post("/task-failures/retry", asked)).body).toEqual({ matched: 4, accepted: 4, more: false });
  expect((await groups()).items.map(({ type, group }) => `${type} ${group}`)).toEqual([
    "paint Error: no brush",
    "sand Error: wall <n> is wet",
  ]);
  expect((await post("/task-failures/retry", asked)).body.matched).toBe(0);
  const { body } = await manager.call("GET", "/api/v1/audit?limit=1", as("admin"));
  expect(body.items[0]).toMatchObject({ action: "task.retry", count: 4, details: asked });
});

test("A failed task runs again with other params, checked by its type; its story says who changed them, and what they were", async () => {
  const id = await failed("no such colour", { params: { colour: "rde" }, key: "wall" });
  await putService();
  const wrong = await post(`/tasks/${id}/retry-with`, { params: { colour: "green" } });
  expect([wrong.status, wrong.body.code, wrong.body.errors[0].pointer]).toEqual([422, "invalid-body", "/params/colour"]);
  expect((await takers.get(id)).status).toBe("Failed");
  const { status, body } = await post(`/tasks/${id}/retry-with`, { params: { colour: "red" } });
  expect([status, body]).toMatchObject([202, { id, status: "Ready", params: { colour: "red" }, key: "wall", failures: 0 }]);
  expect(body.edits).toEqual([{ at: expect.any(String), by: "an-operator", before: { colour: "rde" } }]);
  expect(Math.abs(Date.now() - Date.parse(body.edits[0].at))).toBeLessThan(60_000);
  const [entry]: AuditEntry[] = (await manager.call("GET", "/api/v1/audit?limit=1", as("admin"))).body.items;
  expect(entry).toMatchObject({
    action: "task.retry",
    actor: { name: "an-operator" },
    details: { editedParams: true },
    targets: [{ kind: "task", id }],
  });
  const task = await takers.takeOne();
  expect(task).toMatchObject({ id, params: { colour: "red" }, attempt: 1 });
  await takers.complete(task, "done");
  const over = await takers.get(id);
  expect(over).toMatchObject({ status: "Completed", params: { colour: "red" }, edits: body.edits });
  const listed: TaskView[] = (await manager.call("GET", "/api/v1/tasks", as("viewer"))).body.items;
  expect(listed[0]).not.toHaveProperty("edits");
});

test("A create that is repeated by its id finds its task with the params that somebody has changed, waiting and over", async () => {
  const [id, other] = [randomUUID(), randomUUID()];
  const create = (more: object = {}) => post("/tasks", { type: "paint", id, params: { colour: "rde" }, ...more });
  await failed("no such colour", { id, params: { colour: "rde" } });
  await post(`/tasks/${id}/retry-with`, { params: { colour: "red" } });
  expect(await create()).toMatchObject({ status: 200, body: { outcome: "exists", params: { colour: "red" } } });
  const many = Array.from({ length: 30 }, () => ({ type: "paint", id: randomUUID() }));
  await post("/tasks/batch", { tasks: many });
  // So many are compared without their params being shown.
  const all = [{ type: "paint", id, params: { colour: "rde" } }, ...many];
  const { results } = (await post("/tasks/batch", { tasks: all })).body;
  expect(new Set(results.map(({ status }: { status: number }) => status))).toEqual(new Set([200]));
  expect((await create({ type: "sand" })).body.code).toBe("id-taken");
  expect((await create({ pool: "another" })).body.code).toBe("id-taken");
  await manager.call("POST", "/api/v1/tasks/cancel", { json: { ids: [id] }, ...as("operator") });
  expect(await create()).toMatchObject({ status: 200, body: { outcome: "exists", status: "Cancelled" } });
  // Of one that nobody has changed other params are another task's.
  await create({ id: other });
  expect((await create({ id: other, params: { colour: "red" } })).body.code).toBe("id-taken");
});

test("Of one that waits for its next attempt the params change too, and of many changes five are kept", async () => {
  const { id } = await takers.create({ params: { n: 0 } });
  await takers.fail(await takers.takeOne(), { retryInMs: 3_600_000 });
  for (let n = 1; n <= 7; n += 1) {
    const { status, text } = await post(`/tasks/${id}/retry-with`, {
      params: { n, long: n === 6 ? "x".repeat(20_000) : "" },
    });
    expect(status, text).toBe(202);
    await takers.fail(await takers.takeOne(), { retryInMs: 3_600_000 });
  }
  const { edits = [], failures } = await takers.get(id);
  expect(failures).toBe(1);
  expect(edits.map(({ before }) => (before as { n: number } | null)?.n ?? null)).toEqual([2, 3, 4, 5, null]);
});

test("It is refused where it may not be: its key is another's, it runs, it completed, it never was, nobody has its type", async () => {
  const id = await failed("no", { key: "wall" });
  const other = await takers.create({ key: "wall" });
  const codeOf = async (task: string) => (await post(`/tasks/${task}/retry-with`, { params: { colour: "red" } })).body.code;
  expect(await codeOf(id)).toBe("key-taken");
  expect((await takers.get(id)).status).toBe("Failed");
  const held = await takers.takeOne();
  expect(await codeOf(other.id)).toBe("task-not-retryable");
  await takers.complete(held);
  expect(await codeOf(other.id)).toBe("task-not-retryable");
  expect(await codeOf("00000000-0000-4000-8000-000000000000")).toBe("task-not-found");
  await putService();
  await books.dataSource.query("DELETE FROM task_types");
  expect(await codeOf(await failedOfSand())).toBe("unknown-type");
  expect(
    (await manager.call("POST", `/api/v1/tasks/${id}/retry-with`, { json: { params: {} }, ...as("viewer") })).status,
  ).toBe(403);
});

/** Of a type that nobody has any more. */
async function failedOfSand(): Promise<string> {
  const [{ id }] = (
    await books.dataSource.query(`UPDATE ended_tasks SET type = 'sand', key = NULL WHERE status = 'Failed' RETURNING id`)
  )[0] as [{ id: string }];
  return id;
}

test("Two who change one at once: one of them does, and what runs has the params of exactly one", async () => {
  for (let round = 0; round < 10; round += 1) {
    const id = await failed("no");
    const answers = await Promise.all([1, 2, 3].map((n) => post(`/tasks/${id}/retry-with`, { params: { n } })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409, 409]);
    const winner = answers.findIndex(({ status }) => status === 202) + 1;
    expect(await takers.takeOne()).toMatchObject({ id, params: { n: winner } });
  }
});

test("Ten thousand failures with as many texts are grouped in the time of a look", async () => {
  await books.dataSource.query(
    `INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, last_error, created_at, ended_at)
     SELECT gen_random_uuid(), 'paint', '{}', 'default', 0, 'Failed', now(), 10, 0, 0, 10,
            jsonb_build_object('name', 'Error', 'message', 'wall ' || n || ' is wet'), now() - n * interval '1 ms', now()
     FROM generate_series(1, 12000) AS n`,
  );
  const took: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const beganMs = performance.now();
    expect(await groups()).toMatchObject({ total: 1, isComplete: false });
    took.push(performance.now() - beganMs);
  }
  const median = took.toSorted((a, b) => a - b)[2] ?? 0;
  console.log(`10,000 failures with as many texts: ${median.toFixed(0)} ms`);
  expect(median).toBeLessThan(8_000);
});

/** So many that failed with this, two at a time, by this many µs before others. */
const putFailed = (count: number, message: string, agoMicros: number) =>
  books.dataSource.query(
    `INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, last_error, created_at, ended_at)
     SELECT gen_random_uuid(), 'paint', '{}', 'default', 0, 'Failed', now(), 10, 0, 0, 10,
            jsonb_build_object('name', 'Error', 'message', $2::text),
            timestamptz '2026-01-01' - ($3::int + n / 2) * interval '1 us', now()
     FROM generate_series(1, $1::int) AS n`,
    [count, message, agoMicros],
  );

test("A group runs again whole, also what ten thousand newer failures of another cause lie before", async () => {
  await putFailed(1, "no brush", 0);
  await putFailed(10_000, "wet", 10);
  await putFailed(2, "no brush", 20_000);
  const asked = { type: "paint", group: "Error: no brush" };
  expect((await post("/task-failures/retry", { ...asked, dryRun: true })).body).toEqual({
    matched: 3,
    accepted: 3,
    more: false,
  });
  await books.dataSource.query("DELETE FROM ended_tasks WHERE last_error ->> 'message' = 'no brush' AND created_at = $1", [
    "2026-01-01",
  ]);
  expect((await post("/task-failures/retry", asked)).body).toEqual({ matched: 2, accepted: 2, more: false });
  expect((await post("/task-failures/retry", asked)).body).toEqual({ matched: 0, accepted: 0, more: false });
});

test("A retry of a group says more only where there are more of it than one call does", async () => {
  await putFailed(1, "no brush", 0);
  await putFailed(9_999, "wet", 10);
  const retry = async (group: string) =>
    (await post("/task-failures/retry", { type: "paint", group: `Error: ${group}`, dryRun: true })).body;
  expect(await retry("no brush")).toEqual({ matched: 1, accepted: 1, more: false });
  expect(await retry("wet")).toEqual({ matched: 9_999, accepted: 9_999, more: false });
  await putFailed(2, "wet", 20_000);
  expect(await retry("wet")).toEqual({ matched: 10_000, accepted: 10_000, more: true });
});
