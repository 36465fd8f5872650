import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceList } from "@unacked/contracts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { slotsOf } from "../support/processes/process-tree.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { TASKS_DIR, Tasks } from "../support/system/tasks.ts";

let system: System;
let tasks: Tasks;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("worker", { env: { OBSERVERS_DIR: TASKS_DIR, TASK_WORKERS: "4", STOP_TIMEOUT_MS: "1000" } });
  tasks = new Tasks(system);
});

afterAll(() => system.close());

function kill(slot: number): void {
  try {
    process.kill(slot, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

test("A task runs and its result can be waited for", async () => {
  const { id, status } = await tasks.create({ answer: { deep: [1, "two"] } });
  expect(["Ready", "Sent"]).toContain(status); // as the manager knows of its service already, or not
  const done = await tasks.get(id, "20s");
  expect(done).toMatchObject({
    status: "Completed",
    output: { answer: { deep: [1, "two"] }, attempt: 1 },
    failures: 0,
    interruptions: 0,
    sends: 1,
    service: { name: "worker" },
    lastError: null,
  });
  expect(tasks.runs().get(id)).toBe(1);
});

test("Its service says how many tasks it runs at once, and of which types", async () => {
  await eventually(async () => {
    const { body } = await system.call<ServiceList>("GET", "/api/v1/services");
    expect(body.items[0]).toMatchObject({ name: "worker", tasks: { workers: 4, types: ["slow", "work"] } });
  });
  const { out } = await runCli(["get", "services"], { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
  expect(out).toMatch(/TASK WORKERS[^]*worker .* 4 +default/);
});

test("An attempt that fails is followed by another after its delay", async () => {
  const { id } = await tasks.create({ failures: 2 });
  expect(await tasks.get(id, "20s")).toMatchObject({ status: "Completed", failures: 2, sends: 3, output: { attempt: 3 } });
});

test("With its attempts used up a task is Failed, with the error of the last one and where it was thrown", async () => {
  const { id } = await tasks.create({ failures: 99 });
  const failed = await tasks.get(id, "20s");
  expect(failed).toMatchObject({
    status: "Failed",
    failures: 3,
    lastError: { name: "TypeError", message: "attempt 3 fails" },
  });
  expect(failed.lastError?.stack).toContain("work.js");
});

test("Its creator may say how often it is tried", async () => {
  const { id } = await tasks.create({ failures: 99 }, { maxAttempts: 1 });
  expect(await tasks.get(id, "20s")).toMatchObject({ status: "Failed", failures: 1, sends: 1 });
});

test("An error that will not pass is not tried again", async () => {
  const { id } = await tasks.create({ isFinal: true });
  expect(await tasks.get(id, "20s")).toMatchObject({
    status: "Failed",
    failures: 1,
    lastError: { name: "NonRetryableError" },
  });
});

test.each(inTurn([false, true]))("An attempt that takes longer than it may has failed (deaf: %s)", async (deaf) => {
  const { id } = await tasks.create({}, { type: "slow", params: { deaf } });
  expect(await tasks.get(id, "20s")).toMatchObject({
    status: "Failed",
    failures: 1,
    lastError: { name: "TaskTimeoutError" },
  });
});

test.runIf(isTurnOf(1))("What it has waited for a slot, as all have died, is no time of its own", async () => {
  const { pid } = system.service("worker");
  const endMs = performance.now() + 1_500; // longer than it may take
  const killed = (async () => {
    for (; performance.now() < endMs; await sleep(50)) for (const slot of slotsOf(pid)) kill(slot);
  })();
  const ids = [];
  for (let i = 0; i < 3; i += 1) ids.push((await tasks.create({}, { type: "slow", params: { ms: 0 } })).id);
  await killed;
  for (const id of ids) expect(await tasks.get(id, "20s")).toMatchObject({ status: "Completed", failures: 0 });
});

test("A task whose slot has ended runs again, and says when, on which service and how it ended", async () => {
  const { id } = await tasks.create({ ms: 3_000 });
  const { service } = await tasks.untilStatus(id, "Running");
  const killedMs = Date.now();
  for (const slot of slotsOf(system.service("worker").pid)) kill(slot);
  const done = await tasks.get(id, "20s");
  expect(done).toMatchObject({ status: "Completed", interruptions: 1 });
  const detail = "SlotEndedError: the handler was alone in its slot when that ended: SIGKILL";
  expect(done.interrupted).toMatchObject([{ reason: "crashed", service, takenBy: null, detail }]);
  const atMs = Date.parse(done.interrupted?.[0]?.at ?? "");
  expect(atMs).toBeGreaterThan(killedMs - 1_000);
  expect(atMs).toBeLessThan(Date.now() + 1_000);
  const { out } = await runCli(["describe", "task", id], { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
  expect(out).toMatch(/^Interrupted: +20\S+ \(\S+ ago\) on worker: crashed: SlotEndedError: .* SIGKILL$/m);
});

test("Params that its type does not take are refused at once, and so is a type that nobody has", async () => {
  const wrong = await system.call("POST", "/api/v1/tasks", { type: "work", params: { dir: 7 } });
  expect(wrong).toMatchObject({ status: 422, body: { code: "invalid-body", errors: [{ pointer: "/params/dir" }] } });
  const unknown = await system.call("POST", "/api/v1/tasks", { type: "wrok" });
  expect(unknown).toMatchObject({
    status: 422,
    body: { code: "unknown-type", knownTypes: ["slow", "work"], knownPools: [] },
  });
  const ofObservers = await system.call("POST", "/api/v1/observers", { name: "w", type: "work" });
  const other = 'the type "work"; it is a type of tasks: POST /api/v1/tasks, or unacked run';
  expect(ofObservers).toMatchObject({ status: 422, body: { detail: expect.stringContaining(other) } });
});

test("What is to become of a key is not asked of a task without one", async () => {
  const errors = [{ pointer: "/onConflict", message: "needs a `key`: without one nothing is in its way" }];
  const given = { type: "work", params: { dir: tasks.dir }, onConflict: "return" };
  expect(await system.call("POST", "/api/v1/tasks", given)).toMatchObject({ status: 422, body: { errors } });
  const batch = await system.call("POST", "/api/v1/tasks/batch", { tasks: [given] });
  expect(batch.body).toMatchObject({ results: [{ status: 422, problem: { errors } }] });
});

test("A request with an id of its own is safe to repeat, also when the task is over", async () => {
  const id = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41";
  const request = { id, type: "work", params: { dir: tasks.dir, answer: 7 } };
  expect((await system.call("POST", "/api/v1/tasks", request)).status).toBe(201);
  await tasks.get(id, "20s");
  expect(await system.call("POST", "/api/v1/tasks", request)).toMatchObject({ status: 200, body: { status: "Completed" } });
  const other = await system.call("POST", "/api/v1/tasks", { ...request, params: { dir: tasks.dir, answer: 8 } });
  expect(other).toMatchObject({ status: 409, body: { code: "id-taken" } });
  expect(tasks.runs().get(id)).toBe(1);
});

test("What is scheduled starts when it is due, and not before", async () => {
  const startAt = new Date(Date.now() + 1_500).toISOString();
  const { id, status } = await tasks.create({}, { startAt });
  expect(status).toBe("Scheduled");
  const done = await tasks.get(id, "20s");
  expect(done.status).toBe("Completed");
  expect(Date.parse(done.startedAt ?? "")).toBeGreaterThanOrEqual(Date.parse(startAt) - 20);
});

test("A task is cancelled in each of its states, and never runs after that", async () => {
  const scheduled = await tasks.create({}, { startAt: "2099-01-01T00:00:00Z" });
  const running = await Promise.all(Array.from({ length: 4 }, () => tasks.create({ ms: 600_000 })));
  for (const { id } of running) await tasks.untilStatus(id, "Running");
  const waiting = await tasks.createMany(40);
  const sent = await eventually(async () => {
    const { items } = await tasks.list("status=Sent");
    expect(items.length).toBeGreaterThan(0);
    return items.map(({ id }) => id);
  });
  const ready = (await tasks.list("status=Ready")).items.map(({ id }) => id);
  expect(ready.length).toBeGreaterThan(0);
  const cancel = (id: string) => system.call("DELETE", `/api/v1/tasks/${id}`);
  // One that was Sent may be Ready again in the second list.
  for (const id of new Set([scheduled.id, ...ready, ...sent]))
    expect(await cancel(id)).toMatchObject({ status: 202, body: { status: "Cancelled" } });
  for (const { id } of running) expect(await cancel(id)).toMatchObject({ status: 202, body: { cancelling: true } });
  for (const { id } of running) expect((await tasks.get(id, "20s")).status).toBe("Cancelled");
  expect(await cancel(scheduled.id)).toMatchObject({ status: 409, body: { code: "task-over" } });
  await tasks.untilAllOver();
  const last = await tasks.create(); // all workers are free again, and what was Sent has been refused
  expect((await tasks.get(last.id, "20s")).status).toBe("Completed");
  const runs = tasks.runs();
  expect([...ready, ...sent].filter((id) => runs.has(id))).toEqual([]);
  expect(waiting.filter((id) => (runs.get(id) ?? 0) > 1)).toEqual([]);
});

test.runIf(isTurnOf(2))("The more urgent task overtakes all that waits", async () => {
  const running = await Promise.all(Array.from({ length: 4 }, () => tasks.create({ ms: 3_000 })));
  for (const { id } of running) await tasks.untilStatus(id, "Running");
  const waiting = await tasks.createMany(50, { ms: 50 });
  const { id } = await tasks.create({}, { priority: 10 });
  const { startedAt } = await tasks.get(id, "20s");
  await tasks.untilAllOver();
  const completed = (await tasks.list("status=Completed&limit=100")).items;
  const began = new Map(completed.map((one) => [one.id, Date.parse(one.startedAt as string)]));
  expect(waiting.filter((one) => !began.has(one))).toEqual([]);
  const before = waiting.filter((one) => (began.get(one) as number) < Date.parse(startedAt as string));
  expect(before.length).toBeLessThanOrEqual(10); // a window is 4 workers and one more; what began is told to 50 ms
});

test("A task that failed for good runs again when it is told to, with all its attempts", async () => {
  const { id } = await tasks.create({ failures: 3 });
  expect((await tasks.get(id, "20s")).status).toBe("Failed");
  const again = await system.call("POST", `/api/v1/tasks/${id}/retry`);
  expect(again).toMatchObject({ status: 202, body: { status: "Ready", failures: 0 } });
  expect(await tasks.get(id, "20s")).toMatchObject({ status: "Failed", failures: 3 });
  const { id: done } = await tasks.create();
  await tasks.get(done, "20s");
  expect(await system.call("POST", `/api/v1/tasks/${done}/retry`)).toMatchObject({
    status: 409,
    body: { code: "task-not-retryable" },
  });
});

test.runIf(isTurnOf(2))(
  "A task that ends its slot each time is Failed after three of them, and its service goes on",
  async () => {
    const { id } = await tasks.create({ kills: true });
    const failed = await tasks.get(id, "40s");
    expect(failed).toMatchObject({ status: "Failed", failures: 0, interruptions: 3, lastError: { name: "SlotEndedError" } });
    const { interrupted = [] } = failed;
    expect(interrupted).toHaveLength(3);
    for (const { service, detail } of interrupted) expect([service?.name, detail]).toEqual(["worker", expect.any(String)]);
    expect(interrupted[2]).toMatchObject({ reason: "crashed", detail: expect.stringMatching(/^SlotEndedError: /) });
    const { id: after } = await tasks.create();
    expect((await tasks.get(after, "20s")).status).toBe("Completed");
  },
  240_000,
);

test("Lists are filtered and go on where a page ended", async () => {
  const { items, total, isTotalExact, nextCursor } = await tasks.list("status=Completed&type=work&limit=2");
  expect(items).toHaveLength(2);
  expect(isTotalExact).toBe(true);
  expect(total).toBeGreaterThan(2);
  const next = await tasks.list(`status=Completed&type=work&limit=2&cursor=${nextCursor}`);
  expect(next.items.map(({ id }) => id)).not.toContain(items[1]?.id);
  const [first] = items;
  expect((await tasks.list(`q=${first?.id.slice(0, 20)}`)).items.map(({ id }) => id)).toContain(first?.id);
  expect((await tasks.list("type=nobodys")).total).toBe(0);
});

test.runIf(isTurnOf(0))("The command line runs a task and prints its result, lists and describes", async () => {
  const unacked = (...args: string[]) => runCli(args, { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
  const done = await unacked("run", "work", `dir=${tasks.dir}`, "answer=seven", "--wait");
  expect(done).toMatchObject({ code: 0, err: expect.stringMatching(/^task [0-9a-f-]{36} is \w+\n$/) });
  expect(JSON.parse(done.out)).toEqual({ answer: "seven", attempt: 1 });
  const failed = await unacked("run", "work", `dir=${tasks.dir}`, "isFinal=true", "--wait");
  expect(failed.code).toBe(1);
  expect(failed.err).toContain("NonRetryableError: it will never do");
  const [id = ""] = (await unacked("get", "tasks", "--filter", "status=Failed", "--limit", "1", "-o", "name")).out.split(
    "\n",
  );
  const described = await unacked("describe", "task", id);
  expect(described.out).toContain("NonRetryableError: it will never do");
});

test("Prometheus sees tasks by type and pool, how many workers they want, and how they ended", async () => {
  const before = (await scrape(system.url)).value("unacked_manager_tasks_ended_total", { status: "Completed" }) ?? 0;
  expect(before).toBeGreaterThan(0);
  const ids = await tasks.createMany(8, { ms: 12_000 });
  await eventually(async () => {
    const metrics = await scrape(system.url);
    expect(metrics.value("unacked_tasks", { type: "work", status: "Running" })).toBe(4);
    expect(metrics.value("unacked_task_workers", { pool: "default" })).toBe(4);
    expect(metrics.value("unacked_task_workers_desired", { pool: "default" })).toBe(8);
    expect(metrics.value("unacked_task_oldest_ready_seconds", { pool: "default" })).toSatisfy(
      (s: number) => s > 0 && s < 24,
    );
  });
  for (const id of ids) expect((await tasks.get(id, "40s")).status).toBe("Completed");
  await eventually(async () => {
    const after = (await scrape(system.url)).value("unacked_manager_tasks_ended_total", { status: "Completed" });
    expect(after).toBe(before + 8);
  });
});
