import { createHash, randomUUID } from "node:crypto";
import {
  type CreatedFlow,
  type FlowId,
  FlowTask,
  type FlowTaskPage,
  type FlowTaskView,
  type FlowView,
  type TakenTask,
  type TaskView,
} from "@unacked/contracts";
import { beforeEach, expect, test } from "vitest";
import { PostgresFlowFollowStore } from "../../services/observer-manager/src/adapters/postgres/flows/flow-follow-store.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";
import { isTurnOf } from "../support/runs/turns.ts";

/* Flows by REST, on a real database; their tasks are taken and ended over REST, and ends are followed by hand, as managers do when they are woken. */

const { books, manager } = useHttpManager({
  emptied:
    "tasks, ended_tasks, task_types, task_services, audit, task_figure_deltas, flows, flow_tasks, flow_edges, flow_ends",
});

let takers: Takers;
let store: PostgresFlowFollowStore;

beforeEach(async () => {
  takers = new Takers((method, path, options) => manager.call(method, path, options));
  store = new PostgresFlowFollowStore(books.dataSource);
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { outside: true } });
});

interface Step {
  ref: string;
  after?: string[];
  onFailure?: "fail" | "continue";
  maxOutputBytes?: number;
  startAt?: string;
}

const painted = (steps: Step[]) => steps.map((step) => ({ type: "paint", ...step }));
const post = (body: object) => manager.call("POST", "/api/v1/flows", { json: body });

async function create(steps: Step[], more: object = {}): Promise<CreatedFlow> {
  const { status, body, text } = await post({ tasks: painted(steps), ...more });
  expect(status, text).toBe(201);
  return body;
}

async function get(id: string): Promise<FlowView> {
  const { status, body, text } = await manager.call("GET", `/api/v1/flows/${id}`);
  expect(status, text).toBe(200);
  return body;
}

async function stepsOf(id: string, query = "limit=1000"): Promise<Record<string, FlowTaskView>> {
  const { status, body, text } = await manager.call("GET", `/api/v1/flows/${id}/tasks?${query}`);
  expect(status, text).toBe(200);
  return Object.fromEntries((body as FlowTaskPage).items.map((item) => [item.ref, item]));
}

const statusesOf = async (id: string): Promise<Record<string, string>> =>
  Object.fromEntries(Object.values(await stepsOf(id)).map(({ ref, status }) => [ref, status]));

/** Until nothing is left that could be followed. */
async function follow(): Promise<number> {
  let chunks = 0;
  while ((await store.follow()).ends > 0) chunks += 1;
  return chunks;
}

const sql = <Row extends object>(text: string, parameters: unknown[] = []): Promise<Row[]> =>
  books.dataSource.query(text, parameters);

/** Takes what is due, by its ref. */
async function take(count = 100): Promise<Map<string, TakenTask>> {
  const taken = await takers.take({ count });
  const refs = await sql<{ id: string; ref: string }>("SELECT id, flow_ref AS ref FROM tasks WHERE id = ANY($1)", [
    taken.map(({ id }) => id),
  ]);
  const byId = new Map(refs.map(({ id, ref }) => [id, ref]));
  return new Map(taken.map((task) => [byId.get(task.id) ?? "", task]));
}

const complete = async (task: TakenTask | undefined, output: unknown = null): Promise<void> => {
  await takers.complete(task ?? expect.fail("it is not there"), output);
};
const fail = async (task: TakenTask | undefined): Promise<void> => {
  await takers.fail(task ?? expect.fail("it is not there"), { retryable: false, error: { message: "broken" } });
};
const taskOf = async (id: string): Promise<TaskView> => (await manager.call("GET", `/api/v1/tasks/${id}`)).body;

test("Stages run one after the other, each with the result of the one before, and the flow is over with the last", async () => {
  const { status, body } = await post({
    name: "nightly",
    stages: ["paint", { type: "paint", params: { coat: 2 } }, "paint"],
  });
  expect(status).toBe(201);
  const flow = body as CreatedFlow;
  expect(flow).toMatchObject({
    outcome: "created",
    name: "nightly",
    status: "Running",
    run: 1,
    tasks: { total: 3, completed: 0 },
  });
  expect(await statusesOf(flow.id)).toEqual({ paint: "Ready", "paint-2": "Blocked", "paint-3": "Blocked" });
  const waiting = (await stepsOf(flow.id))["paint-2"];
  expect(waiting).toMatchObject({ after: ["paint"], waitsFor: 1 });
  expect(await taskOf(waiting?.taskId ?? "")).toMatchObject({
    status: "Blocked",
    waitsFor: "flow",
    flow: { id: flow.id, ref: "paint-2", reason: null },
  });
  for (const [ref, inputs] of [
    ["paint", []],
    ["paint-2", [{ ref: "paint", status: "Completed", output: { by: "paint" } }]],
    ["paint-3", [{ ref: "paint-2", status: "Completed", output: { by: "paint-2" } }]],
  ] as const) {
    const due = await take();
    expect([...due.keys()]).toEqual([ref]);
    expect(due.get(ref)?.inputs).toEqual(inputs);
    await complete(due.get(ref), { by: ref });
    await follow();
  }
  expect(await get(flow.id)).toMatchObject({ status: "Completed", reason: null, tasks: { total: 3, completed: 3 } });
  const outputs = await stepsOf(flow.id, "outputs=true");
  expect(outputs["paint-3"]).toMatchObject({ status: "Completed", output: { by: "paint-3" } });
});

test("Each task says why it has not started, as its task does: also one that nothing of the flow holds up", async () => {
  const { id } = await create([{ ref: "a" }, { ref: "later", startAt: "2099-01-01T00:00:00Z" }, { ref: "b", after: ["a"] }]);
  const reasons = async () =>
    Object.fromEntries(Object.values(await stepsOf(id)).map(({ ref, waitReason }) => [ref, waitReason]));
  expect(await reasons()).toEqual({ a: "taker", later: "due-time", b: "flow" });
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { paused: true } });
  expect(await reasons()).toMatchObject({ a: "paused", b: "flow" });
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { paused: false } });
  await take(1);
  expect(await reasons()).toMatchObject({ a: null, b: "flow" });
});

test("Circles are refused with their path, and so are refs that are unknown or twice, and more than the bounds; nothing is created", async () => {
  const refusals: [Step[], string, RegExp][] = [
    [
      [
        { ref: "a", after: ["c"] },
        { ref: "b", after: ["a"] },
        { ref: "c", after: ["b"] },
        { ref: "d", after: ["c"] },
      ],
      "/tasks/0/after",
      /^a circle: a → b → c → a$/,
    ],
    [[{ ref: "a", after: ["a"] }], "/tasks/0/after/0", /cannot come after itself/],
    [[{ ref: "a", after: ["b"] }], "/tasks/0/after/0", /there is no task "b"/],
    [[{ ref: "a" }, { ref: "a" }], "/tasks/1/ref", /that of \/tasks\/0 already/],
    [[{ ref: "a" }, { ref: "b", after: ["a", "a"] }], "/tasks/1/after/1", /stands here twice/],
    [
      [
        ...Array.from({ length: 17 }, (_, i) => ({ ref: `r${i}` })),
        { ref: "join", after: Array.from({ length: 17 }, (_, i) => `r${i}`) },
      ],
      "/tasks/17/after",
      /set maxOutputBytes of these to 61680/,
    ],
  ];
  for (const [steps, pointer, message] of refusals) {
    const { status, body } = await post({ tasks: painted(steps) });
    expect(status).toBe(422);
    expect(body.errors).toEqual([{ pointer, message: expect.stringMatching(message) }]);
  }
  expect((await post({ tasks: painted([{ ref: "a" }]), stages: ["paint"] })).status).toBe(422);
  expect((await post({})).status).toBe(422);
  expect(await sql("SELECT id FROM flows UNION ALL SELECT id FROM tasks")).toEqual([]);
});

test("What comes after a failure is cancelled with the reason, the rest goes on, and the flow is Failed", async () => {
  const { id } = await create([
    { ref: "fetch" },
    { ref: "other" },
    { ref: "parse", after: ["fetch", "other"] },
    { ref: "store", after: ["parse"], onFailure: "continue" },
    { ref: "tell", after: ["store"] },
    { ref: "apart", after: ["other"] },
  ]);
  const due = await take();
  await fail(due.get("fetch"));
  await follow();
  expect(await statusesOf(id)).toMatchObject({ fetch: "Failed", parse: "Cancelled", store: "Cancelled", tell: "Cancelled" });
  expect(await get(id)).toMatchObject({ status: "Running", reason: "fetch failed" });
  const steps = await stepsOf(id);
  expect(steps["fetch"]?.lastError).toEqual({ name: "Error", message: "broken" });
  expect(steps["tell"]?.reason).toBe("fetch failed");
  expect(await taskOf(steps["store"]?.taskId ?? "")).toMatchObject({
    status: "Cancelled",
    flow: { reason: "fetch failed" },
  });
  await complete(due.get("other"));
  await follow();
  await complete((await take()).get("apart"));
  await follow();
  expect(await get(id)).toMatchObject({
    status: "Failed",
    reason: "fetch failed",
    tasks: { total: 6, completed: 2, failed: 1, cancelled: 3 },
  });
  const { status, body } = await manager.call("POST", `/api/v1/tasks/${steps["fetch"]?.taskId}/retry`);
  expect([status, body.code]).toEqual([409, "task-not-retryable"]);
  expect(body.detail).toContain(`/flows/${id}/rerun`);
});

test("After a failure with continue the next ones run, and are told what is missing; so after one that is cancelled by hand", async () => {
  const { id } = await create([
    { ref: "fetch", onFailure: "continue" },
    { ref: "rates", onFailure: "continue" },
    { ref: "orders" },
    { ref: "parse", after: ["fetch", "rates", "orders"] },
  ]);
  const due = await take();
  await fail(due.get("fetch"));
  await complete(due.get("orders"), [1, 2]);
  await follow();
  expect((await take()).size).toBe(0);
  await manager.call("POST", "/api/v1/tasks/cancel", { json: { ids: [due.get("rates")?.id] } });
  await fail(due.get("rates"));
  await follow();
  const parse = (await take()).get("parse");
  expect(parse?.inputs).toEqual([
    { ref: "fetch", status: "Failed", error: { name: "Error", message: "broken" } },
    { ref: "rates", status: "Cancelled", error: { name: "Error", message: "broken" } },
    { ref: "orders", status: "Completed", output: [1, 2] },
  ]);
  await complete(parse);
  await follow();
  expect(await get(id)).toMatchObject({ status: "Completed", tasks: { completed: 2, failed: 1, cancelled: 1 } });
});

test("What many failures have to say is cut to what one task may be given; what a few say is not", async () => {
  const refs = Array.from({ length: 40 }, (_, i) => `r${i}`);
  await create([
    ...refs.map((ref) => ({ ref, onFailure: "continue" as const, maxOutputBytes: 100 })),
    { ref: "all", after: refs },
    { ref: "few", after: refs.slice(0, 2) },
  ]);
  const message = "m".repeat(16_000);
  for (const task of (await take()).values()) await takers.fail(task, { retryable: false, error: { message } });
  await follow();
  const due = await take();
  const told = (ref: string) => due.get(ref)?.inputs?.map(({ error }) => error?.message.length);
  expect(told("all")).toEqual(refs.map(() => Math.floor(262_144 / 40)));
  expect(told("few")).toEqual([16_000, 16_000]);
});

test("A retry of all that match leaves tasks of flows alone, and is not held up by them", async () => {
  await create([{ ref: "a" }]);
  await takers.create();
  for (const task of await takers.take({ count: 2 }))
    await takers.fail(task, { retryable: false, error: { message: "broken" } });
  const { body } = await manager.call("POST", "/api/v1/tasks/retry", { json: { filter: { type: "paint" } } });
  expect(body).toEqual({ matched: 1, accepted: 1, more: false });
});

test("One that is cancelled by hand while it is Blocked is an end as any: what comes after it is cancelled", async () => {
  const { id } = await create([{ ref: "a" }, { ref: "b", after: ["a"] }, { ref: "c", after: ["b"] }]);
  const { b } = await stepsOf(id);
  expect((await manager.call("DELETE", `/api/v1/tasks/${b?.taskId}`)).status).toBe(202);
  await follow();
  expect(await statusesOf(id)).toEqual({ a: "Ready", b: "Cancelled", c: "Cancelled" });
  await complete((await take()).get("a"));
  await follow();
  expect(await get(id)).toMatchObject({ status: "Failed", reason: "b was cancelled" });
});

test("A result that is longer than its task said is a failure of it", async () => {
  const { id } = await create([
    { ref: "a", maxOutputBytes: 10 },
    { ref: "b", after: ["a"] },
  ]);
  await complete((await take()).get("a"), "0123456789");
  await follow();
  expect(await get(id)).toMatchObject({ status: "Failed", reason: "a failed" });
  expect((await stepsOf(id))["a"]?.lastError).toMatchObject({ name: "ResultTooLargeError", message: /12 bytes.*10/ });
});

test("The same document under the same id is answered with the flow, another one is refused", async () => {
  const flow = { id: randomUUID(), tasks: painted([{ ref: "a" }, { ref: "b", after: ["a"] }]) };
  expect((await post(flow)).status).toBe(201);
  const again = await post(flow);
  expect([again.status, again.body.outcome]).toEqual([200, "exists"]);
  const large = await post({ tasks: [{ ref: "a", type: "paint", params: "x".repeat(262_144) }] });
  expect([large.status, large.body.detail]).toEqual([413, "The params of /tasks/0 are too large"]);
  const other = await post({ ...flow, name: "other" });
  expect([other.status, other.body.code]).toEqual([409, "id-taken"]);
  expect(await sql("SELECT count(*)::int AS count FROM tasks")).toEqual([{ count: 2 }]);
  const deeds = await sql("SELECT deed, sum(count)::int AS count FROM audit WHERE deed LIKE 'flow%' GROUP BY 1");
  expect(deeds).toEqual([{ deed: "flow.create", count: 1 }]);
});

test("The same content is the same document with its keys in another order, or a stage by its type alone", async () => {
  const [id, at] = [randomUUID(), "2026-01-01T00:00:00Z"];
  const step = { ref: "a", type: "paint", startAt: at, params: { coat: 1, of: { red: 2, blue: [{ x: 1, y: 2 }] } } };
  expect((await post({ id, name: "n", tasks: [step] })).status).toBe(201);
  const turned = { params: { of: { blue: [{ y: 2, x: 1 }], red: 2 }, coat: 1 }, startAt: at, type: "paint", ref: "a" };
  const outcomeOf = async (flow: object) => (await post(flow)).body.outcome;
  expect(await outcomeOf({ tasks: [turned], name: "n", id })).toBe("exists");
  const other = { ...step, params: { ...step.params, of: { red: 2, blue: [{ x: 2, y: 1 }] } } };
  expect((await post({ id, name: "n", tasks: [other] })).status).toBe(409);
  const inStages = randomUUID();
  expect((await post({ id: inStages, stages: ["paint", "paint"] })).status).toBe(201);
  expect(await outcomeOf({ id: inStages, stages: [{ type: "paint" }, "paint"] })).toBe("exists");
  // As it was written down before.
  const before = createHash("sha256")
    .update(JSON.stringify(["n", FlowTask.array().parse([step])]))
    .digest("hex");
  await sql("UPDATE flows SET digest = $2 WHERE id = $1", [id, before]);
  expect(await outcomeOf({ id, name: "n", tasks: [step] })).toBe("exists");
  const [named] = FlowTask.array().parse([{ ref: "b", type: "paint" }]);
  const { ref, after, ...rest } = named as FlowTask;
  const ofStages = createHash("sha256")
    .update(JSON.stringify([null, [{ ...rest, ref, after }]]))
    .digest("hex");
  const byRef = { id: randomUUID(), stages: [{ type: "paint", ref: "b" }] };
  expect((await post(byRef)).status).toBe(201);
  await sql("UPDATE flows SET digest = $2 WHERE id = $1", [byRef.id, ofStages]);
  expect(await outcomeOf(byRef)).toBe("exists");
});

test("One that is repeated is answered with the flow, whatever types services have by then, and whoever knows flows", async () => {
  const flow = { id: randomUUID(), tasks: painted([{ ref: "a" }]) };
  expect((await post(flow)).status).toBe(201);
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { outside: false } });
  await sql(
    `INSERT INTO task_services (id, generation, name, pool, workers, draining, types)
     VALUES (gen_random_uuid(), 1, 'another', 'default', 1, false, '[{"type":"other","paramsSchema":{}}]')`,
  );
  const fresh = await post({ ...flow, id: randomUUID() });
  expect([fresh.status, fresh.body.code]).toEqual([422, "unknown-type"]);
  manager.setFlowsKnown(false);
  const again = await post(flow);
  expect([again.status, again.body.outcome]).toEqual([200, "exists"]);
  const other = await post({ ...flow, name: "other" });
  expect([other.status, other.body.code]).toEqual([409, "id-taken"]);
});

test.runIf(isTurnOf(1))(
  "An end that unlocks thousands is followed in chunks, and goes on where whoever was at it has died",
  async () => {
    const many = Array.from({ length: 2_500 }, (_, i) => `m${i}`);
    const { id } = await create([
      { ref: "first" },
      ...many.map((ref) => ({ ref, after: ["first"], maxOutputBytes: 100 })),
      { ref: "last", after: many },
    ]);
    await complete((await take()).get("first"));
    const readied: number[] = [];
    for (let i = 0; i < 3; i += 1) {
      expect((await store.follow()).ends).toBe(1);
      const [row] = await sql<{ count: number }>("SELECT count(*)::int AS count FROM tasks WHERE status = 'Ready'");
      readied.push(row?.count ?? 0);
      store = new PostgresFlowFollowStore(books.dataSource); // another manager
    }
    expect(readied).toEqual([1_000, 2_000, 2_500]);
    expect((await store.follow()).ends).toBe(0);
    for (let left = 2_500; left > 0; ) {
      const taken = await takers.take({ count: 100 });
      left -= taken.length;
      await Promise.all(taken.map((task) => takers.complete(task, 1)));
    }
    await follow();
    const last = (await take()).get("last");
    expect(last?.inputs).toHaveLength(2_500);
    await complete(last);
    await follow();
    expect(await get(id)).toMatchObject({ status: "Completed", tasks: { total: 2_502, completed: 2_502 } });
  },
);

test("Of tasks that together have more inputs than 4 MiB a taker has those that are within, and the next one the others", async () => {
  const sources = Array.from({ length: 16 }, (_, i) => `source-${i}`);
  const readers = Array.from({ length: 6 }, (_, i) => `reader-${i}`);
  await create([...sources.map((ref) => ({ ref })), ...readers.map((ref) => ({ ref, after: sources }))]);
  for (const task of (await take()).values()) await complete(task, "x".repeat(65_000));
  await follow();
  // What is given back is no start.
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { ratePerSecond: readers.length } });
  const first = await take();
  expect([...first.values()].map(({ inputs }) => inputs?.length)).toEqual(Array(4).fill(16));
  const second = await take();
  expect([...first.keys(), ...second.keys()].sort()).toEqual([...readers].sort());
});

test("Many short results count with what is around them, and errors with what is told of them, however long these are", async () => {
  const results = Array.from({ length: 1_000 }, (_, i) => `result-${i}`);
  const failures = Array.from({ length: 40 }, (_, i) => `failure-${i}`);
  const readers = (name: string) => Array.from({ length: 30 }, (_, i) => `${name}-${i}`);
  const { id } = await create([
    ...[...results, ...failures].map((ref) => ({ ref, onFailure: "continue" as const, maxOutputBytes: 100 })),
    ...readers("sum").map((ref) => ({ ref, after: results })),
    ...readers("look").map((ref) => ({ ref, after: failures })),
  ]);
  await over(id, "result", { status: "Completed", output: "1" });
  await over(id, "failure", { status: "Failed", message: "m".repeat(16_000) });
  await sql("UPDATE tasks SET status = 'Ready' WHERE flow_id = $1", [id]);
  const expected = [...readers("sum"), ...readers("look")];
  const takes: string[][] = [];
  for (let left = expected.length; left > 0; left -= takes.at(-1)?.length || expect.fail("nothing more comes"))
    takes.push([...(await take()).keys()]);
  expect(takes.flat().sort()).toEqual(expected.sort());
  // 4 MiB of a thousand times 200 bytes, of 262,144 characters.
  for (const some of takes) {
    const lookers = some.filter((ref) => ref.startsWith("look")).length;
    expect((some.length - lookers) * 201_000 + lookers * 270_000).toBeLessThan(4_300_000);
  }
});

/** Those of the flow that are called so, as followed up long ago. */
async function over(id: string, name: string, how: { status: string; output?: string; message?: string }): Promise<void> {
  const [prefix, { status, output = null, message = null }] = [`${name}-%`, how];
  await sql(
    `UPDATE flow_tasks SET status = $3, output = $4, ended_at = now(),
       error = CASE WHEN $5::text IS NOT NULL THEN jsonb_build_object('name', 'Error', 'message', $5::text) END
     WHERE flow_id = $1 AND ref LIKE $2`,
    [id, prefix, status, output, message],
  );
  await sql("DELETE FROM tasks WHERE flow_id = $1 AND flow_ref LIKE $2", [id, prefix]);
}

test("Two managers follow at once, and one that dies leaves its chunk to another: each task is unlocked once", async () => {
  const flows = await Promise.all(
    Array.from({ length: 20 }, () => create([{ ref: "a" }, { ref: "b", after: ["a"] }, { ref: "c", after: ["a", "b"] }])),
  );
  const others = [store, new PostgresFlowFollowStore(books.dataSource), new PostgresFlowFollowStore(books.dataSource)];
  for (const expected of ["a", "b", "c"]) {
    const taken = await takers.take({ count: 100 });
    expect(taken).toHaveLength(20);
    const refs = await sql<{ ref: string }>("SELECT DISTINCT flow_ref AS ref FROM tasks WHERE status = 'Running'");
    expect(refs).toEqual([{ ref: expected }]);
    await Promise.all(taken.map((task) => takers.complete(task)));
    await Promise.all(others.map((one) => one.follow()));
    await follow();
  }
  for (const { id } of flows) expect(await get(id)).toMatchObject({ status: "Completed", tasks: { completed: 3 } });
  const [runs] = await sql<{ sends: number }>("SELECT sum(sends)::int AS sends FROM ended_tasks");
  expect(runs?.sends).toBe(60);
});

/** As whoever ends them does: of all of it that could begin. */
const noteEnds = (id: string) =>
  sql(
    "INSERT INTO flow_ends (flow_id, ref, task_id, status, ended_at) SELECT flow_id, ref, task_id, 'Completed', now() FROM flow_tasks WHERE flow_id = $1 AND waiting = 0",
    [id],
  );

/** Does it while another manager is in the middle of a chunk of these flows. */
async function whileOthersAreAt(ids: string[], act: () => Promise<void>): Promise<void> {
  const other = books.dataSource.createQueryRunner();
  await other.startTransaction();
  try {
    await other.query("SELECT FROM flows WHERE id = ANY($1) FOR UPDATE", [ids]);
    await act();
  } finally {
    await other.rollbackTransaction();
    await other.release();
  }
}

test("While others are at wide flows whose ends come first, those of the flows behind them are followed all the same", async () => {
  const wide = Array.from({ length: 250 }, (_, i) => ({ ref: `w${i}` }));
  const [first, second] = [await create(wide), await create(wide)];
  const behind = await create([{ ref: "a" }, { ref: "b", after: ["a"] }]);
  for (const { id } of [first, second, behind]) await noteEnds(id);
  await whileOthersAreAt([first.id, second.id], async () => {
    expect(await store.follow()).toMatchObject({ ends: 1, unlocked: 1 });
    expect((await stepsOf(behind.id))["b"]?.status).toBe("Ready");
    expect((await store.follow()).ends).toBe(0);
  });
  await whileOthersAreAt([first.id], async () => expect((await store.follow()).ends).toBe(200));
  await follow();
  expect(await get(first.id)).toMatchObject({ status: "Completed" });
  expect(await get(second.id)).toMatchObject({ status: "Completed" });
});

test("A flow that is cancelled whole is told in chunks; what ends meanwhile is written down, and nothing is unlocked", async () => {
  const { id } = await create([
    { ref: "a" },
    { ref: "b" },
    ...Array.from({ length: 30 }, (_, i) => ({ ref: `c${i}`, after: ["a"] })),
  ]);
  const due = await take();
  expect((await manager.call("POST", `/api/v1/flows/${id}/cancel`)).body).toMatchObject({
    status: "Running",
    cancelling: true,
    reason: "cancelled by anonymous",
  });
  await complete(due.get("a"));
  await follow();
  expect((await store.cancelSome(10))?.over).toHaveLength(9); // and one that runs is told
  while ((await store.cancelSome(10)) !== undefined);
  await follow();
  expect(await get(id)).toMatchObject({ status: "Running", cancelling: true });
  expect(
    (await manager.call("POST", `/api/v1/tasks/${due.get("b")?.id}/extend`, { json: { sendId: due.get("b")?.sendId } })).body
      .code,
  ).toBe("task-cancelling");
  await fail(due.get("b"));
  await follow();
  expect(await get(id)).toMatchObject({
    status: "Cancelled",
    reason: "cancelled by anonymous",
    tasks: { total: 32, completed: 1, failed: 0, cancelled: 31 },
  });
  const again = await manager.call("POST", `/api/v1/flows/${id}/cancel`);
  expect([again.status, again.body.code]).toEqual([409, "flow-over"]);
});

test("One flow that cannot be cancelled holds up no others that are, and is tried again", async () => {
  const flows = await Promise.all([create([{ ref: "a" }]), create([{ ref: "a" }]), create([{ ref: "a" }])]);
  for (const { id } of flows) await manager.call("POST", `/api/v1/flows/${id}/cancel`);
  const [first, second, third] = flows.map(({ id }) => id).toSorted() as [FlowId, FlowId, FlowId];
  await sql(`CREATE FUNCTION fail_some() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.flow_id IN ('${first}', '${second}') THEN RAISE EXCEPTION 'it cannot be cancelled'; END IF;
      RETURN OLD;
    END $$`);
  await sql("CREATE TRIGGER fail_some BEFORE DELETE ON tasks FOR EACH ROW EXECUTE FUNCTION fail_some()");
  const look = () =>
    store.cancelSome(10).then(
      (done) => done?.over.length,
      (error: Error) => error.message,
    );
  const broken = "it cannot be cancelled";
  try {
    expect([await look(), await look(), await look()]).toEqual([broken, broken, 1]);
    expect(await statusesOf(third)).toEqual({ a: "Cancelled" });
    expect([await look(), await look()]).toEqual([broken, broken]);
  } finally {
    await sql("DROP FUNCTION fail_some CASCADE");
  }
  expect([await look(), await look(), await look()]).toEqual([1, 1, undefined]);
});

test("What has not run as its flow was cancelled whole says so, and nothing that comes after it runs again without it", async () => {
  const { id } = await create([
    { ref: "a", onFailure: "continue" },
    { ref: "b", after: ["a"] },
    { ref: "c", onFailure: "continue" },
    { ref: "d", after: ["c"] },
  ]);
  const { a, c } = await stepsOf(id);
  await manager.call("DELETE", `/api/v1/tasks/${c?.taskId}`);
  await follow();
  await manager.call("POST", `/api/v1/flows/${id}/cancel`);
  while ((await store.cancelSome(10)) !== undefined);
  await follow();
  const reason = "cancelled by anonymous";
  expect(await get(id)).toMatchObject({ status: "Cancelled", reason, tasks: { total: 4, cancelled: 4 } });
  const steps = Object.values(await stepsOf(id));
  expect(steps.map((step) => [step.ref, step.reason])).toEqual(Object.entries({ a: reason, b: reason, c: null, d: reason }));
  expect((await taskOf(a?.taskId ?? "")).flow).toMatchObject({ ref: "a", reason });
  const rerun = (from: string) => manager.call("POST", `/api/v1/flows/${id}/rerun`, { json: { from } });
  const refused = await rerun("b");
  expect([refused.status, refused.body.detail]).toEqual([409, '"b" comes after "a", which is Cancelled: begin there']);
  // After what was cancelled by hand, and had said that it may.
  expect((await rerun("d")).body).toMatchObject({ status: "Running", run: 2, reason });
});

test("Of a flow that is cancelled whole what could begin is cancelled first, wherever it stands in it", async () => {
  const { id } = await create([
    ...Array.from({ length: 30 }, (_, i) => ({ ref: `c${i}`, after: ["first"] })),
    { ref: "later", startAt: "2100-01-01T00:00:00Z" },
    { ref: "first" },
    { ref: "runs" },
  ]);
  const taken = await takers.takeOne({ count: 1 });
  await manager.call("POST", `/api/v1/flows/${id}/cancel`);
  await store.cancelSome(10);
  expect([...(await take()).keys()]).toEqual([]);
  expect(await statusesOf(id)).toMatchObject({ later: "Cancelled", c0: expect.stringMatching(/Blocked|Cancelled/) });
  expect((await taskOf(taken.id)).cancelling).toBe(true);
  while ((await store.cancelSome(10)) !== undefined);
  const open = await sql("SELECT id, status FROM tasks WHERE flow_id = $1", [id]);
  expect(open).toEqual([{ id: taken.id, status: "Running" }]);
});

test("Run again from a stage: that and what comes after are new tasks, with the kept results of the others", async () => {
  const { id } = await create([
    { ref: "fetch" },
    { ref: "parse", after: ["fetch"] },
    { ref: "store", after: ["parse"] },
    { ref: "apart" },
  ]);
  const rerun = (body: object = {}) => manager.call("POST", `/api/v1/flows/${id}/rerun`, { json: body });
  expect((await rerun()).body.code).toBe("flow-running");
  const due = await take();
  await complete(due.get("fetch"), "page");
  await fail(due.get("apart"));
  await follow();
  await fail((await take()).get("parse"));
  await follow();
  expect(await get(id)).toMatchObject({ status: "Failed", reason: "apart failed" });
  const before = await stepsOf(id);
  const refused = await rerun({ from: "store" });
  expect([refused.status, refused.body.code]).toEqual([409, "flow-not-rerunnable"]);
  expect(refused.body.detail).toBe('"store" comes after "parse", which is Failed: begin there');
  expect((await rerun({ from: "nothing" })).body.code).toBe("flow-not-rerunnable");
  // Days of ended tasks may be dropped: the results are the flow's.
  await sql("DELETE FROM ended_tasks");
  expect((await rerun({ from: ["parse"] })).body).toMatchObject({ status: "Running", run: 2, reason: "apart failed" });
  const after = await stepsOf(id);
  expect(after["fetch"]).toMatchObject({ taskId: before["fetch"]?.taskId, status: "Completed", run: 1 });
  expect(after["parse"]).toMatchObject({ status: "Ready", run: 2, lastError: null });
  expect(after["parse"]?.taskId).not.toBe(before["parse"]?.taskId);
  const parse = (await take()).get("parse");
  expect(parse?.inputs).toEqual([{ ref: "fetch", status: "Completed", output: "page" }]);
  await complete(parse, 7);
  await follow();
  await complete((await take()).get("store"));
  await follow();
  expect(await get(id)).toMatchObject({ status: "Failed", tasks: { total: 4, completed: 3, failed: 1, cancelled: 0 } });
  // Left out: what did not complete.
  expect((await rerun()).body).toMatchObject({ run: 3, reason: null, tasks: { completed: 3, failed: 0 } });
  await complete((await take()).get("apart"));
  await follow();
  expect(await get(id)).toMatchObject({ status: "Completed", run: 3 });
  expect((await rerun()).body.detail).toBe("All of it has completed: say from where it is to run again");
});

test("A task of a flow that may not start before a time is Scheduled when it is unlocked", async () => {
  const { id } = await create([{ ref: "a" }, { ref: "b", after: ["a"], startAt: "2999-01-01T00:00:00Z" }]);
  await complete((await take()).get("a"));
  await follow();
  expect(await statusesOf(id)).toEqual({ a: "Completed", b: "Scheduled" });
});

test("One that was created before PostgreSQL's clock was set back is due as soon as what it comes after has ended", async () => {
  const { id } = await create([{ ref: "a" }, { ref: "b", after: ["a"] }]);
  await sql("UPDATE tasks SET due_at = due_at + interval '1 hour' WHERE status = 'Blocked'");
  await complete((await take()).get("a"));
  await follow();
  expect(await statusesOf(id)).toEqual({ a: "Completed", b: "Ready" });
  expect([...(await take()).keys()]).toEqual(["b"]);
});

test("Flows are listed, filtered and paged; their tasks too, in order", async () => {
  const first = await create([{ ref: "a" }, { ref: "b", after: ["a"] }, { ref: "c", after: ["b"] }], { name: "one" });
  const second = await create([{ ref: "a" }], { name: "two" });
  await takers.take({ count: 2 });
  await complete(await onlyOf(second.id));
  await follow();
  const list = async (query = "") => (await manager.call("GET", `/api/v1/flows?${query}`)).body;
  expect((await list()).items.map(({ id }: FlowView) => id)).toEqual([second.id, first.id]);
  expect((await list("name=one")).items.map(({ id }: FlowView) => id)).toEqual([first.id]);
  expect(await list("status=Completed")).toMatchObject({ total: 1, items: [{ id: second.id }] });
  const page = await list("limit=1");
  expect((await list(`limit=1&cursor=${page.nextCursor}`)).items.map(({ id }: FlowView) => id)).toEqual([first.id]);
  const tasks = (await manager.call("GET", `/api/v1/flows/${first.id}/tasks?limit=2`)).body;
  expect([tasks.total, ...tasks.items.map(({ ref }: FlowTaskView) => ref)]).toEqual([3, "a", "b"]);
  expect(Object.keys(await stepsOf(first.id, `limit=2&cursor=${tasks.nextCursor}`))).toEqual(["c"]);
  expect((await manager.call("GET", "/api/v1/flows?cursor=nonsense")).status).toBe(400);
  expect((await manager.call("GET", `/api/v1/flows/${randomUUID()}`)).body.code).toBe("flow-not-found");
});

test("The list of a flow's tasks has no more than the begin of long errors; the task has all of it", async () => {
  const { id } = await create(Array.from({ length: 1_000 }, (_, i) => ({ ref: `wordy-${i}` })));
  const message = "m".repeat(16_000);
  const [task] = await takers.take({ count: 1 });
  await takers.fail(task ?? expect.fail(), { retryable: false, error: { message } });
  const list = async () => (await manager.call("GET", `/api/v1/flows/${id}/tasks?limit=1000`)).text;
  const said = async () =>
    (JSON.parse(await list()) as FlowTaskPage).items.flatMap(({ lastError }) => (lastError === null ? [] : [lastError]));
  const begin = { name: "Error", message: message.slice(0, 1_000) };
  expect(await said()).toEqual([begin]);
  expect((await taskOf(task?.id ?? "")).lastError?.message).toBe(message);
  await over(id, "wordy", { status: "Failed", message });
  expect((await list()).length).toBeLessThan(2_000_000);
  expect(await said()).toEqual(Array.from({ length: 1_000 }, () => begin));
});

/** Its task, taken. */
async function onlyOf(flowId: string): Promise<TakenTask> {
  const [row] = await sql<TakenTask>('SELECT id, send_id AS "sendId" FROM tasks WHERE flow_id = $1', [flowId]);
  return row ?? expect.fail();
}

const DAY_MS = 86_400_000;

test("A flow that was over for long is forgotten with all that was kept of it", async () => {
  const { id } = await create([{ ref: "a" }, { ref: "b", after: ["a"] }]);
  const other = await create([{ ref: "a" }]);
  await manager.call("POST", `/api/v1/flows/${id}/cancel`);
  while ((await store.cancelSome(10)) !== undefined);
  await follow();
  expect(await store.forget(DAY_MS, 10)).toBe(0);
  await sql("UPDATE flows SET ended_at = ended_at - interval '2 days' WHERE ended_at IS NOT NULL");
  expect(await store.forget(DAY_MS, 10)).toBe(1);
  expect(await sql("SELECT DISTINCT flow_id FROM flow_tasks")).toEqual([{ flow_id: other.id }]);
  expect(await sql("SELECT DISTINCT flow_id FROM flow_edges")).toEqual([]);
});

test("A flow is not forgotten before the day (UTC) of its last task is dropped", async () => {
  await create([{ ref: "a" }]);
  await complete((await take()).get("a"));
  await follow();
  const endedAt = (at: string) => sql(`UPDATE flows SET ended_at = ${at}`);
  const dayBefore = "date_trunc('day', now(), 'UTC') - interval '1 day'";
  await endedAt(dayBefore);
  expect(await store.forget(DAY_MS, 10)).toBe(0);
  await endedAt(`${dayBefore} - interval '1 millisecond'`);
  expect(await store.forget(DAY_MS, 10)).toBe(1);
});

test("The retry of a kind of failure leaves tasks of flows to their flows", async () => {
  await create([{ ref: "a" }]);
  expect((await manager.call("POST", "/api/v1/tasks", { json: { type: "paint" } })).status).toBe(201);
  for (const task of (await take()).values()) await fail(task);
  await follow();
  const [group] = (await manager.call("GET", "/api/v1/task-failures")).body.items;
  expect(group).toMatchObject({ type: "paint", count: 2 });
  const json = { type: "paint", group: group.group };
  const retried = await manager.call("POST", "/api/v1/task-failures/retry", { json });
  expect(retried.body).toEqual({ matched: 1, accepted: 1, more: false });
});

test("Tables that PostgreSQL thinks empty are analyzed once hundreds of rows have come", async () => {
  const thoughtEmpty = async (): Promise<string[]> => {
    const rows = await books.dataSource.query(
      "SELECT relname FROM pg_class WHERE relname IN ('flow_tasks', 'flow_edges') AND reltuples = 0 AND relpages > 0 ORDER BY 1",
    );
    return rows.map(({ relname }: { relname: string }) => relname);
  };
  const chain = (count: number): Step[] =>
    Array.from({ length: count }, (_, i) => ({ ref: `s${i}`, ...(i > 0 && { after: [`s${i - 1}`] }) }));
  await create(chain(100));
  for (const table of ["flow_tasks", "flow_edges"]) {
    await books.dataSource.query(`DELETE FROM ${table}`);
    await books.dataSource.query(`VACUUM (TRUNCATE OFF, ANALYZE) ${table}`);
  }
  expect(await thoughtEmpty()).toEqual(["flow_edges", "flow_tasks"]);
  await create(chain(1_000));
  expect(await thoughtEmpty()).toEqual([]);
});
