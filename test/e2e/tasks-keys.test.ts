import { join } from "node:path";
import type { BodyOf, CreatedTask, ProblemDetails, TaskBatchResults } from "@unacked/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { mostAtOnce, readSpans } from "../support/acts/spans.ts";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { proves } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { queryRows, runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

const ENV = { OBSERVERS_DIR: join(ROOT, compiled("limited-tasks")), TASK_WORKERS: "10" };
const NEVER = "2999-01-01T00:00:00Z";

let system: System;
let tasks: Tasks;
/** Of both managers. */
let urls: string[];

beforeAll(async () => {
  system = await freshSystem();
  const managers = [await system.startManager(), await system.startManager({ speakTo: false })];
  urls = await Promise.all(managers.map(async (manager) => String((await manager.waitForEvent("listening")).url)));
  await Promise.all(["one", "two"].map((name) => system.startService(name, { env: ENV })));
});
afterAll(() => system.close());
beforeEach(() => {
  tasks = new Tasks(system);
});

type Answer = CreatedTask & Pick<ProblemDetails, "code" | "taskId">;

type More = Partial<BodyOf<"createTask">> & { ms?: number };

/** Of the type `span`, which writes its version when it has run. */
const spanOf = (version: number, key: string, { ms = 0, ...more }: More = {}) => ({
  type: "span",
  key,
  params: { dir: tasks.dir, ms, version },
  ...more,
});

const create = (version: number, key: string, more: More = {}, url = system.url) =>
  system.call<Answer>("POST", "/api/v1/tasks", spanOf(version, key, more), url);

const versionsRun = () =>
  readSpans(tasks.dir)
    .toSorted((a, b) => (a.fromNs < b.fromNs ? -1 : 1))
    .map(({ version }) => version);

test.runIf(isTurnOf(1))(
  "Of fifty that create with one key at once, by two managers, one is in, and the others are told of it",
  async () => {
    for (const [onConflict, status] of [
      ["reject", 409],
      ["return", 200],
    ] as const) {
      const key = `fifty-${onConflict}`;
      const all = await Promise.all(
        Array.from({ length: 50 }, (_, i) => create(i, key, { onConflict, startAt: NEVER }, urls[i % urls.length])),
      );
      const [created, ...more] = all.filter((one) => one.status === 201);
      expect(more).toEqual([]);
      expect(created?.body).toMatchObject({ outcome: "created", key });
      const others = all.filter((one) => one.status !== 201);
      expect(others.map((one) => one.status)).toEqual(Array(49).fill(status));
      expect(new Set(others.map(({ body }) => (status === 409 ? body.taskId : body.id)))).toEqual(
        new Set([created?.body.id]),
      );
      await system.call("DELETE", `/api/v1/tasks/${created?.body.id}`);
    }
  },
);

test("The key is free again when its task is over, and another type has keys of its own", async () => {
  const first = (await create(1, "free")).body;
  await tasks.get(first.id, "20s");
  const second = await create(2, "free", { startAt: NEVER });
  expect(second).toMatchObject({ status: 201, body: { outcome: "created" } });
  expect(second.body.id).not.toBe(first.id);
  const other = await system.call<Answer>("POST", "/api/v1/tasks", { type: "kept", key: "free" });
  expect(other).toMatchObject({ status: 201, body: { outcome: "created", type: "kept" } });
  // Without a say, the key of another is a conflict.
  expect(await create(3, "free")).toMatchObject({ status: 409, body: { code: "key-taken", taskId: second.body.id } });
  await system.call("DELETE", `/api/v1/tasks/${second.body.id}`);
});

test("What waits is replaced, and runs once, as the last one said", async () => {
  const { body: first } = await create(1, "replaced", { startAt: NEVER });
  for (const version of [2, 3])
    expect(
      (await create(version, "replaced", { onConflict: "replace", startAt: NEVER, priority: version })).body,
    ).toMatchObject({
      id: first.id,
      outcome: "replaced",
      priority: version,
      status: "Scheduled",
      params: { version },
    });
  expect((await create(4, "replaced", { onConflict: "replace" })).body).toMatchObject({ id: first.id, status: "Ready" });
  expect(await tasks.get(first.id, "20s")).toMatchObject({ status: "Completed", params: { version: 4 } });
  expect(versionsRun()).toEqual([4]);
});

test("What runs runs once more with the newest params, and nothing that came between", async () => {
  const { body: first } = await create(1, "latest", { ms: 15_000 });
  await tasks.untilStatus(first.id, "Running");
  for (const [version, onConflict] of [
    [2, "queue-latest"],
    [3, "replace"],
    [4, "queue-latest"],
  ] as const)
    expect((await create(version, "latest", { onConflict })).body).toMatchObject({
      id: first.id,
      outcome: "queued",
      runsAgain: true,
      params: { version: 1 },
    });
  const over = await tasks.get(first.id, "40s");
  expect(over).toMatchObject({ status: "Completed", runsAgain: false, params: { version: 4 }, sends: 2 });
  expect(versionsRun()).toEqual([1, 4]);
});

test.runIf(isTurnOf(0))("What came after a cancel is dropped by another one, also by one of many", async () => {
  for (const body of [(id: string) => ({ ids: [id] }), () => ({ filter: { type: "span", status: ["Running"] } })]) {
    const { body: long } = await create(1, "dropped", { ms: 8_000 });
    await tasks.untilStatus(long.id, "Running");
    const cancel = () => system.call<{ accepted: number }>("POST", "/api/v1/tasks/cancel", body(long.id));
    // As a cancel that was told and that the service never heard, nor hears again: what runs ends by itself.
    await runStatement(
      String(system.env.DATABASE_URL),
      `UPDATE tasks SET cancel_requested_at = now(), cancel_ordered_at = now() + interval '1 hour' WHERE id = '${long.id}'`,
    );
    await create(2, "dropped", { onConflict: "queue-latest" });
    expect((await cancel()).body.accepted).toBe(1);
    expect((await cancel()).body.accepted).toBe(0);
    await tasks.untilAllOver();
    expect(await tasks.get(long.id)).toMatchObject({ runsAgain: false, sends: 1 });
  }
  expect(versionsRun()).not.toContain(2);
});

test("What replaces another begins anew: it has ended no service yet", async () => {
  const url = String(system.env.DATABASE_URL);
  const startAt = new Date(Date.now() + 3_600_000).toISOString();
  const { body: waits } = await create(1, "anew", { startAt });
  await runStatement(url, `UPDATE tasks SET crashes = 2, failures = 3 WHERE id = '${waits.id}'`);
  expect((await create(2, "anew", { startAt, onConflict: "replace" })).body.outcome).toBe("replaced");
  expect(await queryRows(url, `SELECT crashes, failures FROM tasks WHERE id = '${waits.id}'`)).toEqual([
    { crashes: 0, failures: 0 },
  ]);
  await system.call("DELETE", `/api/v1/tasks/${waits.id}`); // the tests after this one wait for the end of all
});

test.runIf(isTurnOf(2))("Where one waits and nothing runs, queue-latest leaves it as it is, and runs after it", async () => {
  const { body: first } = await create(1, "behind", { startAt: new Date(Date.now() + 10_000).toISOString() });
  expect((await create(2, "behind", { onConflict: "queue-latest" })).body).toMatchObject({
    id: first.id,
    outcome: "queued",
  });
  expect((await tasks.get(first.id, "40s")).status).toBe("Completed");
  expect(versionsRun()).toEqual([1, 2]);
});

test("The newest runs also after a failure, and after a cancel that came before it", async () => {
  const { body: fails } = await system.call<Answer>("POST", "/api/v1/tasks", {
    ...spanOf(1, "fails"),
    params: { dir: tasks.dir, ms: 15_000, version: 1, fails: true },
  });
  await tasks.untilStatus(fails.id, "Running");
  await create(2, "fails", { onConflict: "queue-latest" });
  expect(await tasks.get(fails.id, "40s")).toMatchObject({ status: "Completed", failures: 0 });
  expect(versionsRun()).toEqual([1, 2]);
  const { body: long } = await create(3, "cancelled", { ms: 600_000 });
  await tasks.untilStatus(long.id, "Running");
  await create(4, "cancelled", { onConflict: "queue-latest" });
  await system.call("DELETE", `/api/v1/tasks/${long.id}`);
  const { body: after } = await create(5, "cancelled", { onConflict: "queue-latest" });
  expect(await tasks.get(after.id, "20s")).toMatchObject({ status: "Completed", params: { version: 5 } });
  expect(versionsRun()).toEqual([1, 2, 3, 5]); // the third was cut short, the fourth dropped
});

test("A task that failed takes its key again when it is retried, unless another has it", async () => {
  const { body: failed } = await system.call<Answer>("POST", "/api/v1/tasks", {
    ...spanOf(1, "again"),
    params: { dir: tasks.dir, fails: true },
  });
  expect((await tasks.get(failed.id, "20s")).status).toBe("Failed");
  const { body: other } = await create(2, "again", { startAt: NEVER });
  const retry = () => system.call<Answer>("POST", `/api/v1/tasks/${failed.id}/retry`);
  expect(await retry()).toMatchObject({ status: 409, body: { code: "key-taken", taskId: other.id } });
  await system.call("DELETE", `/api/v1/tasks/${other.id}`);
  expect(await retry()).toMatchObject({ status: 202, body: { key: "again" } });
  await tasks.get(failed.id, "20s");
});

test("In a batch each meets what those before it left", async () => {
  const { body } = await system.call<TaskBatchResults>("POST", "/api/v1/tasks/batch", {
    tasks: [
      spanOf(1, "batch", { startAt: NEVER }),
      spanOf(2, "batch"),
      spanOf(3, "batch", { onConflict: "return" }),
      spanOf(4, "batch", { onConflict: "replace", startAt: NEVER }),
      spanOf(5, "other", { startAt: NEVER }),
    ],
  });
  const told = body.results.map((result) => ("task" in result ? result.task.outcome : result.problem.code));
  expect(told).toEqual(["created", "key-taken", "returned", "replaced", "created"]);
  const ids = new Set(body.results.map((result) => ("task" in result ? result.task.id : result.problem.taskId)));
  expect(ids.size).toBe(2);
  for (const id of ids) expect((await system.call("DELETE", `/api/v1/tasks/${id}`)).status).toBe(202);
});

test.each(inTurn(["replace", "queue-latest"] as const))(
  "While twenty write to one key (%s) two never run at once, and the last one always runs",
  async (onConflict) => {
    const key = `storm-${onConflict}`;
    const endMs = performance.now() + (proves("tasks") ? 30_000 : 4_000);
    let version = 0;
    const write = async (i: number) => {
      while (performance.now() < endMs) {
        const { status } = await create((version += 1), key, { onConflict, ms: 5 }, urls[i % urls.length]);
        expect([200, 201]).toContain(status);
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, i) => write(i)));
    await create(1_000_000, key, { onConflict });
    await tasks.untilAllOver();
    const run = versionsRun();
    process.stdout.write(`${version} versions of one key were written (${onConflict}), ${run.length} of them run\n`);
    expect(run.at(-1)).toBe(1_000_000);
    expect(run.length).toBeGreaterThan(2);
    expect(mostAtOnce(readSpans(tasks.dir))).toBe(1);
  },
  240_000,
);

test.runIf(isTurnOf(1))("The command line names a key and says what became of it", async () => {
  const unacked = (...args: string[]) => runCli(args, { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
  const span = ["run", "span", `dir=${tasks.dir}`, "--start-at", NEVER, "--key", "nightly"];
  const created = await unacked(...span);
  const id = /task (\S+) is Scheduled\n/.exec(created.out)?.[1] ?? expect.fail(created.out + created.err);
  expect((await unacked(...span)).err).toContain("Another task of this type has the key");
  expect((await unacked(...span, "--on-conflict", "replace")).out).toBe(`task ${id} is Scheduled (replaced)\n`);
  expect((await unacked("describe", "task", id)).out).toMatch(/Key: +nightly/);
  await eventually(async () => expect((await system.call("DELETE", `/api/v1/tasks/${id}`)).status).toBe(202));
});
