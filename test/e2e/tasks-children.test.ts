import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskView } from "@unacked/contracts";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { diesAt } from "../support/processes/crash-point.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { runStatement } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { HANDLER_TASKS_DIR, Tasks } from "../support/system/tasks.ts";

const ENV = { OBSERVERS_DIR: HANDLER_TASKS_DIR, TASK_WORKERS: "4" };

describe("tasks that handlers create", () => {
  let system: System;
  let tasks: Tasks;
  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager({ env: { TASK_CREATION_POOLS: "reports" } });
    await system.startService("worker", { env: ENV });
    tasks = new Tasks(system);
  });
  afterAll(() => system.close());

  const parent = async (params: object): Promise<TaskView> => {
    const { id } = await tasks.create({}, { type: "parent", params: { dir: tasks.dir, ...params } });
    return await tasks.get(id, "20s");
  };
  const childrenIn = async (): Promise<string[]> => (await tasks.list("type=child&limit=1000")).items.map(({ id }) => id);

  test("They are real once their creator completes, and each names the other", async () => {
    const id = randomUUID();
    const startAt = new Date(Date.now() + 3_600_000).toISOString();
    const done = await parent({ children: [{}, { id, priority: 7, startAt, key: "k-1" }] });
    expect(done).toMatchObject({ status: "Completed", parentId: null });
    const { ids, errors } = done.output as { ids: string[]; errors: string[] };
    expect(errors).toEqual([]);
    expect(ids[1]).toBe(id);
    expect(done.created).toEqual(ids.map((one) => ({ id: one, type: "child", outcome: "created" })));
    expect(done.refused).toEqual([]);
    expect(await tasks.get(ids[0] ?? "", "20s")).toMatchObject({ status: "Completed", parentId: done.id, pool: "default" });
    expect(await tasks.get(id)).toMatchObject({
      status: "Scheduled",
      priority: 7,
      dueAt: startAt,
      key: "k-1",
      parentId: done.id,
    });
    const { out } = await runCli(["describe", "task", done.id], { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
    expect(out).toContain(`child ${id}, created`);
    expect((await tasks.list("type=parent")).items.every((one) => one.created === undefined)).toBe(true);
  });

  test.each(["fail", "postpone", "wait"])("Of one that does not complete (%s) nothing is created", async (end) => {
    const before = await childrenIn();
    const { id } = await tasks.create({}, { type: "parent", params: { dir: tasks.dir, children: [{}, {}], end } });
    if (end === "wait") {
      await tasks.untilStatus(id, "Running");
      await system.call("DELETE", `/api/v1/tasks/${id}`);
    }
    const status = { fail: "Failed", postpone: "Scheduled", wait: "Cancelled" }[end] as TaskView["status"];
    expect((await tasks.untilStatus(id, status)).created).toBeUndefined();
    expect(await childrenIn()).toEqual(before);
  });

  test("Of an attempt that failed before it completed only the last one's are created", async () => {
    const before = await childrenIn();
    const done = await parent({ children: [{}], end: "fail-once" });
    expect(done).toMatchObject({ status: "Completed", failures: 1 });
    expect((await childrenIn()).filter((id) => !before.includes(id))).toEqual(done.created?.map(({ id }) => id));
  });

  test("Of a key that somebody's open transaction has nothing is created, and the end of its creator is not held up", async () => {
    const shop = new pg.Client({ connectionString: system.env.DATABASE_URL });
    await shop.connect();
    await shop.query("BEGIN");
    await shop.query("SELECT unacked_create_task('child', $1, key => 'open')", [JSON.stringify({ dir: tasks.dir })]);
    const done = await parent({ children: [{ key: "open" }, {}] });
    expect(done).toMatchObject({
      status: "Completed",
      created: [{ outcome: "created" }],
      refused: [{ code: "key-taken", detail: 'a transaction that has not ended has the key "open"' }],
    });
    await shop.query("ROLLBACK");
    await shop.end();
  });

  test("What is wrong is an error in the handler, and the rest is created", async () => {
    const wrong = [
      { type: "child", params: { dir: 7 } },
      { type: "no blank" },
      { key: "" },
      { priority: 1_001 },
      { id: "me" },
      { colour: "red" },
      { params: { label: "NUL" } },
      { params: { label: "HUGE" } },
      { startAt: "nonsense" },
    ];
    const done = await parent({ children: [...wrong, {}] });
    const { ids, errors } = done.output as { ids: string[]; errors: string[] };
    expect(ids).toHaveLength(1);
    expect(errors).toEqual([
      expect.stringMatching(/^invalid-params: tasks.create: child: \/dir: /),
      expect.stringContaining('was given "no blank"'),
      expect.stringContaining("key is not a text"),
      expect.stringContaining("priority is not a whole number"),
      expect.stringContaining("id is not a UUID"),
      expect.stringContaining("there is no option colour"),
      expect.stringContaining("NUL"),
      expect.stringContaining("262144 bytes"),
      expect.stringContaining("startAt is not a valid Date"),
    ]);
    expect(done.created).toHaveLength(1);
  });

  test("A hundred may be created, and not one more", async () => {
    const done = await parent({ greedy: true });
    const { ids, errors } = done.output as { ids: string[]; errors: string[] };
    expect(ids).toHaveLength(100);
    expect(errors).toEqual(["invalid-creation: tasks.create: an attempt may create 100 tasks, and this would be one more"]);
    expect(done.created?.map(({ id }) => id)).toEqual(ids);
    await expect.poll(async () => (await tasks.get(ids[99] ?? "")).status, { timeout: 120_000 }).toBe("Completed");
  });

  test("What is refused stands in its creator's story, which completes, with the others", async () => {
    const other = await tasks.create({}, { type: "later", params: { dir: tasks.dir, inMs: 1 } });
    const taken = { key: "k-2", startAt: new Date(Date.now() + 3_600_000).toISOString() };
    const done = await parent({
      children: [
        taken,
        taken,
        { ...taken, onConflict: "return" },
        { type: "nobody-has-it" },
        { pool: "elsewhere" },
        { pool: "reports" },
        { id: other.id },
      ],
    });
    const [first, , , , , reports] = (done.output as { ids: string[] }).ids;
    expect(done).toMatchObject({ status: "Completed" });
    expect(done.created).toEqual([
      { id: first, type: "child", outcome: "created" },
      { id: first, type: "child", outcome: "returned" },
      { id: reports, type: "child", outcome: "created" },
    ]);
    expect(done.refused?.map(({ code, detail }) => [code, detail])).toEqual([
      ["unknown-type", 'No living service of the pool "default" knows the task type "nobody-has-it"'],
      ["forbidden", expect.stringContaining("TASK_CREATION_POOLS")],
      ["key-taken", expect.stringContaining(String(first))],
      ["id-taken", "another task has this id"],
    ]);
    expect(await tasks.get(reports ?? "")).toMatchObject({ pool: "reports", status: "Ready", waitsFor: "service" });
  });

  test("What the database refuses costs neither its neighbours nor the end of its creator", async () => {
    const rule = "CHECK (params->>'label' IS DISTINCT FROM 'bad')";
    await runStatement(system.env.DATABASE_URL as string, `ALTER TABLE tasks ADD CONSTRAINT none_bad ${rule}`);
    const labelled = (label: string) => ({ params: { dir: tasks.dir, label } });
    const params = { dir: tasks.dir, children: ["one", "bad", "two"].map(labelled) };
    const ids = await tasks.createMixed(
      Array.from({ length: 5 }, () => params),
      { type: "parent" },
    );
    for (const id of ids) {
      const done = await tasks.get(id, "20s");
      const [one, bad, two] = (done.output as { ids: string[] }).ids;
      expect(done).toMatchObject({ status: "Completed", created: [{ id: one }, { id: two }] });
      expect(done.refused).toMatchObject([{ id: bad, code: "refused-by-database" }]);
    }
  });
});

/** Of docs/decisions/0039-handlers-wishes.md. */
describe("a process that dies with children on their way", () => {
  const service = [
    ["is about to tell the end", "publish unacked.events", 2],
    ["has told the end and dies before the confirm", "confirm unacked.events", 2],
    ["has the confirm of the end and dies before the ack", "ack unacked.tasks", 0],
  ] as const;

  async function expectOneSet(system: System, tasks: Tasks, id: string): Promise<void> {
    const done = await tasks.untilStatus(id, "Completed");
    expect(done.created).toHaveLength(20);
    await tasks.untilAllOver();
    const { items } = await tasks.list("type=child&limit=1000");
    expect(items.map((one) => one.id).toSorted()).toEqual(done.created?.map((one) => one.id).toSorted());
    expect(items.every((one) => one.parentId === id && one.status === "Completed")).toBe(true);
    const ran = readdirSync(tasks.dir).filter((name) => name.endsWith(".children"));
    const lines = ran.flatMap((name) => readFileSync(join(tasks.dir, name), "utf8").trim().split("\n"));
    expect(new Set(lines)).toEqual(new Set(items.map((one) => one.id)));
    expect((await system.call<{ items: unknown[] }>("GET", "/api/v1/errors")).body.items).toEqual([]);
  }

  const create = (tasks: Tasks) =>
    tasks.create({}, { type: "parent", params: { dir: tasks.dir, children: Array.from({ length: 20 }, () => ({})) } });

  test.each(inTurn(service))(
    "service: it %s; there is one set of children, of the end that counts",
    async (_, point, after) => {
      const system = await freshSystem();
      try {
        const tasks = new Tasks(system);
        await system.startManager();
        const doomed = await system.startService("worker-1", { env: { ...ENV, ...diesAt(point, after) } });
        const { id } = await create(tasks);
        expect(await doomed.exited).toMatchObject({ signal: "SIGKILL" });
        await system.startService("worker-2", { env: ENV });
        await expectOneSet(system, tasks, id);
      } finally {
        await system.close();
      }
    },
  );

  test.runIf(isTurnOf(2))("manager: it applies the end and dies before the ack; they are created once", async () => {
    const system = await freshSystem();
    try {
      const tasks = new Tasks(system);
      const doomed = await system.startManager({ env: diesAt("ack unacked.events", 0, "TaskEnded") });
      await system.startService("worker-1", { env: ENV });
      const { id } = await create(tasks);
      expect(await doomed.exited).toMatchObject({ signal: "SIGKILL" });
      await system.startManager();
      await expectOneSet(system, tasks, id);
    } finally {
      await system.close();
    }
  });
});
