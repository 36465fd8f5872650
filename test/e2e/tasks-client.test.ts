import { join } from "node:path";
import { type CallError, Client, contractDecoder, Wire } from "@unacked/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type span from "../fixtures/limited-tasks/span.ts";
import { ROOT } from "../support/processes/processes.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

/* `client.tasks` against a real manager and service. */

const ENV = { OBSERVERS_DIR: join(ROOT, compiled("limited-tasks")), TASK_WORKERS: "10" };

let system: System;
let client: Client;
let dir: string;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("one", { env: ENV });
  client = new Client({ wire: new Wire({ url: system.url }), decoder: contractDecoder });
  ({ dir } = new Tasks(system));
});
afterAll(() => system.close());

const failureOf = (rejected: Promise<unknown>): Promise<unknown> =>
  rejected.then(
    () => expect.fail("it resolved"),
    (error) => error,
  );

test("A task is created, waited for, and gives its result; one that fails or is cancelled rejects", async () => {
  const done = await client.tasks.create<typeof span>("span", { dir, ms: 50 });
  expect(done.outcome).toBe("created");
  expect(await done.result()).toBeNull();
  const fails = await client.tasks.create<typeof span>("span", { dir, fails: true });
  expect(await failureOf(fails.result())).toMatchObject({ name: "TaskFailed", lastError: { message: "told to" } });
  const slow = await client.tasks.create<typeof span>("span", { dir, ms: 60_000 }, { priority: 5 });
  expect(await failureOf(slow.result({ timeoutMs: 500 }))).toMatchObject({ name: "TaskNotOver" });
  await slow.cancel();
  expect(await failureOf(slow.result())).toMatchObject({ name: "TaskCancelled" });
  expect((await slow.get()).status).toBe("Cancelled");
  expect(await failureOf(client.tasks.create("spam", {}))).toMatchObject({
    code: "unknown-type",
  } satisfies Partial<CallError>);
});

test("Who waits for a result has it although the manager is killed and started again meanwhile", async () => {
  const port = Number(new URL(system.url).port);
  const task = await client.tasks.create<typeof span>("span", { dir, ms: 3_000 });
  await new Tasks(system).untilStatus(task.id, "Running");
  const result = task.result({ timeoutMs: 60_000 });
  await system.managers.at(-1)?.kill("SIGKILL");
  await system.startManager({ port });
  expect(await result).toBeNull();
  expect(await task.get()).toMatchObject({ status: "Completed", sends: 1 });
});

test("Many are created at once, listed one by one, and refused each for itself", async () => {
  const many = Array.from({ length: 1_500 }, (_, version) => ({
    params: { dir, version },
    key: version < 2 ? "same" : `n-${version}`,
  }));
  const results = await client.tasks.createMany<typeof span>(
    "span",
    many.map((one) => ({ ...one, startAt: "2999-01-01T00:00:00Z" })),
  );
  expect(results.map((result) => ("problem" in result ? result.problem.code : "created")).slice(0, 3)).toEqual([
    "created",
    "key-taken",
    "created",
  ]);
  let count = 0;
  for await (const { status } of client.tasks.list({ type: "span", status: ["Scheduled"] })) {
    expect(status).toBe("Scheduled");
    count += 1;
  }
  expect(count).toBe(1_499);
  let few = 0;
  for await (const _task of client.tasks.list({ type: "span" }, { limit: 7 })) few += 1;
  expect(few).toBe(7);
  await client.call("cancelTasks", { body: { filter: { type: "span" } } });
});

test("A program of one's own works off tasks that no service has", async () => {
  await client.call("changeTaskType", { path: { taskType: "paint" }, body: { outside: true } });
  const waits = client.tasks.take("paint", { waitMs: 20_000 });
  const created = await client.tasks.create("paint", { colour: "red" });
  const [taken] = await waits;
  expect(taken).toMatchObject({ id: created.id, params: { colour: "red" }, attempt: 1 });
  expect((await taken?.extend(60_000))?.getTime()).toBeGreaterThan(Date.now() + 50_000);
  await taken?.fail(new RangeError("out of paint"), { retryInMs: 0 });
  const [again] = await client.tasks.take(["paint", "nothing-else"], { waitMs: 20_000 });
  expect(again?.attempt).toBe(2);
  const result = created.result();
  await again?.complete({ litres: 2 });
  expect(await result).toEqual({ litres: 2 });
  expect(await failureOf(again?.extend(60_000) ?? Promise.resolve())).toMatchObject({ code: "task-not-held" });
});
