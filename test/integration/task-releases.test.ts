import { randomUUID } from "node:crypto";
import type { TakenTask, TaskId } from "@unacked/contracts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { PostgresTaskTakeStore } from "../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { eventually } from "../support/eventually.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog, SOMEBODY } from "../support/servers/books.ts";
import { putTaskService } from "../support/system/waiting-tasks.ts";

/* How a taking ends before its lease: its taker gives it back, or an operator takes it back. */

const tokens = roleTokens();
const access = () => ({ callers: callersOf(tokens.list, keptLog()) });
const { books, manager } = useHttpManager({ emptied: "tasks, ended_tasks, task_types, task_services, audit", access });

let takers: Takers;
let queue: PostgresTaskQueueStore;
let store: PostgresTaskTakeStore;

const as = (role: "viewer" | "operator" | "admin") => ({ headers: bearer(tokens.of[role]) });
const sql = <Row extends object>(text: string, parameters: unknown[] = []): Promise<Row[]> =>
  books.dataSource.query(text, parameters);
const cancel = (id: string) => manager.call("DELETE", `/api/v1/tasks/${id}`, as("operator"));
const claim = async () => (await queue.claim("default", { window: 10, workers: 10, types: ["paint"] })).tasks;
const trailOf = async (action: string) =>
  (await manager.call("GET", `/api/v1/audit?action=${action}`, as("admin"))).body.items;

beforeAll(() => {
  queue = new PostgresTaskQueueStore(books.dataSource);
  store = new PostgresTaskTakeStore(books.dataSource);
});
beforeEach(() => {
  takers = new Takers((method, path, options) => manager.call(method, path, { ...options, ...as("operator") }));
});

test("What is given back is due as before, in its old place, and neither an attempt nor an interruption is counted", async () => {
  const { id } = await takers.create();
  await takers.fail(await takers.takeOne(), { retryInMs: 0 });
  const taken = await takers.takeOne({ wait: 20_000 });
  const { dueAt } = await takers.get(id);
  await takers.create();
  const { status, body } = await takers.release(taken, { reason: "the worker ends" });
  expect([status, body.dueAt]).toEqual([200, dueAt]);
  expect(body).toMatchObject({
    ...{ id, status: "Ready", failures: 1, interruptions: 0, sends: 2, postpones: 0, postponedFor: null },
    ...{ lastError: { message: "out of paint" }, taken: { by: "an-operator", until: null } },
  });
  expect(await takers.takeOne()).toMatchObject({ id, attempt: 2 });
  expect(await trailOf("task.release")).toMatchObject([
    { actor: { name: "an-operator" }, targets: [{ kind: "task", id }], details: { reason: "the worker ends" } },
  ]);
});

test("What is given back goes at once to one who waits, or to a service that has the type", async () => {
  const { id } = await takers.create();
  const taken = await takers.takeOne();
  const waits = takers.takeOne({ wait: 30_000 });
  await takers.release(taken);
  const next = await waits;
  expect(next).toMatchObject({ id, attempt: 1 });
  await takers.release(next);
  await putTaskService(books.dataSource, { types: ["paint"] });
  expect((await claim()).map(({ task }) => task.taskId)).toEqual([id]);
});

test("What is put off waits so long, for the reason given, and that is no failure", async () => {
  const { id } = await takers.create();
  const taken = await takers.takeOne();
  const { body } = await takers.release(taken, { inMs: 3_600_000, reason: "the scanner is at lunch" });
  expect(Math.abs(Date.parse(body.dueAt) - Date.now() - 3_600_000)).toBeLessThan(30_000);
  const waiting = {
    status: "Scheduled",
    waitsFor: "postponed",
    postponedFor: "the scanner is at lunch",
    postpones: 1,
  };
  expect(body).toMatchObject({ ...waiting, failures: 0, interruptions: 0, lastError: null });
  expect(await takers.take()).toEqual([]);
  await sql("UPDATE tasks SET due_at = now()");
  const again = await takers.takeOne();
  expect(again).toMatchObject({ id, attempt: 1 });
  expect((await takers.release(again, { inMs: 0 })).body).toMatchObject({ status: "Scheduled", postpones: 2 });
  const last = await takers.takeOne({ wait: 20_000 });
  expect((await takers.complete(last)).body).toMatchObject({ status: "Completed", postpones: 2, postponedFor: null });
});

test("A task can be put off by a year, and a reason has a length", async () => {
  await takers.create();
  const taken = await takers.takeOne();
  for (const wrong of [
    { inMs: -1 },
    { inMs: 366 * 86_400_000 + 1 },
    { inMs: 0.5 },
    { reason: "x".repeat(1_001) },
    { reason: "\0" },
  ])
    expect(await takers.release(taken, wrong)).toMatchObject({ status: 422, body: { code: "invalid-body" } });
  expect((await takers.release(taken, { inMs: 366 * 86_400_000 })).body.status).toBe("Scheduled");
});

test("Given back twice, as an answer was lost, it is answered twice and done once; what the same taking says after that is not done", async () => {
  const { id } = await takers.create();
  const first = await takers.takeOne();
  for (let told = 0; told < 2; told += 1)
    expect(await takers.release(first)).toMatchObject({ status: 200, body: { status: "Ready", sends: 1 } });
  const second = await takers.takeOne();
  for (const again of [await takers.release(first, { inMs: 60_000 }), await takers.complete(first, "mine")])
    expect(again).toMatchObject({ status: 200, body: { id, status: "Running" } });
  expect((await takers.extend(first)).body.code).toBe("task-not-held");
  expect((await takers.complete(second, "done")).body).toMatchObject({ output: "done", postpones: 0 });
  expect(await trailOf("task.release")).toHaveLength(1);
});

test("Who says too late that he gives it back is refused, and so is he who never had it", async () => {
  const { id } = await takers.create();
  const taken = await takers.takeOne();
  await sql("UPDATE tasks SET lease_until = now() - interval '1 ms'");
  await eventually(async () => expect(await takers.get(id)).toMatchObject({ status: "Ready", interruptions: 1 }));
  expect(await takers.release(taken)).toMatchObject({ status: 409, body: { code: "task-not-held" } });
  expect((await takers.release({ ...taken, id: randomUUID() as TaskId })).body.code).toBe("task-not-found");
  const refused = await manager.call("POST", `/api/v1/tasks/${id}/release`, {
    json: { sendId: taken.sendId },
    ...as("viewer"),
  });
  expect(refused).toMatchObject({ status: 403, body: { neededRole: "taker" } });
});

test("What is cancelled is over when it is given back, put off or taken back, and what newer params wait for goes on with them", async () => {
  const taken: TakenTask[] = [];
  for (let i = 0; i < 4; i += 1) {
    await takers.create({ key: `wall-${i}` });
    taken.push(await takers.takeOne());
  }
  for (const { id } of taken) await cancel(id);
  const [back, off, dead, newer] = taken as [TakenTask, TakenTask, TakenTask, TakenTask];
  await takers.create({ key: "wall-3", params: { version: 2 }, onConflict: "queue-latest" });
  expect((await takers.release(back)).body).toMatchObject({ status: "Cancelled", interruptions: 0 });
  expect((await takers.release(off, { inMs: 60_000 })).body.status).toBe("Cancelled");
  expect((await takers.takeBack(dead)).body).toMatchObject({ status: "Cancelled", interruptions: 1 });
  expect((await takers.release(newer)).body).toMatchObject({ status: "Ready", params: { version: 2 }, cancelling: false });
});

test("What is taken back is at once another's, an interruption, and what the first says then is refused", async () => {
  await manager.call("PATCH", "/api/v1/task-types/paint", { json: { maxRunning: 1 }, ...as("admin") });
  const { id } = await takers.create();
  const dead = await takers.takeOne({ leaseMs: 86_400_000 });
  const waits = takers.takeOne({ wait: 30_000 });
  const { status, body } = await takers.takeBack(dead);
  expect([status, body.interruptions, body.failures, body.taken]).toEqual([200, 1, 0, { by: "an-operator", until: null }]);
  expect(body.interrupted).toMatchObject([{ reason: "taken-back", service: null, takenBy: "an-operator", detail: null }]);
  const next = await waits;
  expect(next).toMatchObject({ id, attempt: 1 });
  for (const late of [
    await takers.complete(dead),
    await takers.fail(dead),
    await takers.extend(dead),
    await takers.release(dead),
  ])
    expect(late).toMatchObject({ status: 409, body: { code: "task-not-held" } });
  expect((await takers.complete(next, "done")).body.output).toBe("done");
  expect(await trailOf("task.take-back")).toMatchObject([
    { actor: { name: "an-operator" }, targets: [{ kind: "task", id }], details: { takenBy: "an-operator" } },
  ]);
});

test("What is taken back for the third time is Failed: it may be what its workers die of", async () => {
  const { id } = await takers.create();
  for (let times = 1; times <= 3; times += 1) {
    const dead = await takers.takeOne({ wait: 20_000 });
    expect((await takers.takeBack(dead)).body).toMatchObject({
      status: times < 3 ? "Ready" : "Failed",
      interruptions: times,
    });
  }
  expect(await takers.get(id)).toMatchObject({ lastError: { name: "LeasesOverError" } });
});

test("Only what a worker outside has is taken back, by who may", async () => {
  const { id } = await takers.create();
  const refusal = async () => {
    const { status, body } = await takers.takeBack({ id });
    return [status, body.code, body.detail];
  };
  const nobodyHasIt = (how: string) => [409, "task-not-taken", `The task is ${how}, and no worker outside has it`];
  expect(await refusal()).toEqual(nobodyHasIt("Ready"));
  await putTaskService(books.dataSource, { types: ["paint"] });
  await claim();
  expect(await refusal()).toEqual(nobodyHasIt("Sent"));
  await sql("UPDATE tasks SET status = 'Ready', send_id = NULL");
  const taken = await takers.takeOne();
  expect((await manager.call("POST", `/api/v1/tasks/${id}/take-back`, as("viewer"))).status).toBe(403);
  await takers.complete(taken);
  expect(await refusal()).toEqual(nobodyHasIt("Completed"));
  expect((await takers.takeBack({ id: randomUUID() })).body.code).toBe("task-not-found");
  expect(await trailOf("task.take-back")).toEqual([]);
});

test("Of an end that is told, or a lease that is over, and one who takes it back one comes first, and the other finds it", async () => {
  const seen = { told: 0, back: 0, over: 0 };
  for (let i = 0; i < 40; i += 1) {
    const { id } = await takers.create();
    const taken = await takers.takeOne();
    const takeBack = () => store.takeBack(id as TaskId, newAction("task.take-back", SOMEBODY));
    if (i % 2 === 0) {
      const [back, told] = await Promise.all([takeBack(), takers.complete(taken)]);
      expect([back.kind, told.status]).toEqual(back.kind === "taken-back" ? ["taken-back", 409] : ["not-taken", 200]);
      seen[back.kind === "taken-back" ? "back" : "told"] += 1;
    } else {
      await sql("UPDATE tasks SET lease_until = now() - interval '1 ms' WHERE id = $1", [id]);
      const [{ again }, back] = await Promise.all([store.endLeases(10), takeBack()]);
      expect(again + Number(back.kind === "taken-back")).toBeLessThanOrEqual(1);
      seen[back.kind === "taken-back" ? "back" : "over"] += 1;
      expect(await takers.get(id)).toMatchObject({ status: "Ready", interruptions: 1 });
    }
    await sql("TRUNCATE tasks");
  }
  process.stdout.write(`taken back against ends and leases that are over: ${JSON.stringify(seen)}\n`);
});
