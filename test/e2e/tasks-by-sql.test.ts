import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AuditPage,
  CreateTask,
  type ProblemDetails,
  type TaskBatchResults,
  type TaskPage,
  type TaskView,
} from "@unacked/contracts";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WAIT_MS } from "../../services/observer-manager/src/adapters/postgres/statements/lock-waits.ts";
import { median } from "../support/acts/gaps.ts";
import { readSpans } from "../support/acts/spans.ts";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

/* An application creates tasks in its own transactions, as a role that may do nothing else in the books. */

const ENV = { OBSERVERS_DIR: join(ROOT, compiled("limited-tasks")), TASK_WORKERS: "10" };
const ROLE = "the_shop";

let system: System;
let tasks: Tasks;
let shop: pg.Client;
let books: pg.Client;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await system.startService("one", { env: ENV });
  const url = new URL(String(system.env.DATABASE_URL));
  books = new pg.Client({ connectionString: url.href });
  await books.connect();
  await books.query(`DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${ROLE}') THEN CREATE ROLE ${ROLE} LOGIN PASSWORD 'secret'; END IF;
  END $$`);
  await books.query(`CREATE TABLE orders (id int PRIMARY KEY)`);
  await grant();
  Object.assign(url, { username: ROLE, password: "secret" });
  shop = new pg.Client({ connectionString: url.href });
  await shop.connect();
});
afterAll(async () => {
  await shop?.end();
  await books?.end();
  await system.close();
});
beforeEach(() => {
  tasks = new Tasks(system);
});

const params = (more: object = {}) => JSON.stringify({ dir: tasks.dir, ms: 0, version: 1, ...more });

/** docs/create-tasks.md, from your own transaction */
const grant = () => books.query(`GRANT EXECUTE ON FUNCTION unacked_create_task TO ${ROLE}; GRANT ALL ON orders TO ${ROLE}`);

/** @param more arguments by name, as SQL */
async function create(more = "", value = params()): Promise<{ task_id: string; outcome: string }> {
  const { rows } = await shop.query(`SELECT * FROM unacked_create_task('span', $1${more === "" ? "" : `, ${more}`})`, [
    value,
  ]);
  return rows[0];
}

const find = async (id: string) => (await system.call<TaskView>("GET", `/api/v1/tasks/${id}`)).body;
/** As `md5(text)::uuid` makes it. */
const md5Uuid = (text: string): string =>
  createHash("md5")
    .update(text)
    .digest("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
const refused = (sql: string, values: unknown[] = []) =>
  shop.query(sql, values).then(
    () => expect.fail("it was taken"),
    (error: pg.DatabaseError) => error,
  );

/** Longer than until a manager that nobody wakes looks again (BACKSTOP_MS of task-dispatcher.ts): what it has done before wakes it no more. */
const IDLE_MS = 1_100;
/** So much later each time: the looks that nobody asks for come a second apart, and each commit falls elsewhere between two of them. */
const LATER_MS = 90;
const COMMITS = 11;
/** Who waits for such a look waits for half a second, of the middle one. */
const AT_ONCE_MS = 250;

test("What is rolled back was never there; what commits, with an order, starts at once: its commit wakes a manager that idles", async () => {
  await shop.query("BEGIN");
  await shop.query("INSERT INTO orders VALUES (1)");
  const never = await create();
  await shop.query("ROLLBACK");
  const tookMs: number[] = [];
  for (let i = 0; i < COMMITS; i += 1) {
    await sleep(IDLE_MS + i * LATER_MS);
    await shop.query("BEGIN");
    await shop.query("INSERT INTO orders VALUES ($1)", [2 + i]);
    const { task_id: id, outcome } = await create("", params({ version: i }));
    expect(outcome).toBe("created");
    await shop.query("COMMIT");
    const committedNs = process.hrtime.bigint();
    expect(await tasks.get(id, "30s")).toMatchObject({ status: "Completed", params: { version: i } });
    const span = readSpans(tasks.dir).find(({ version }) => version === i) ?? expect.fail("it has not run");
    tookMs.push(Number(span.fromNs - committedNs) / 1e6);
  }
  const sorted = tookMs.toSorted((a, b) => a - b);
  process.stdout.write(
    `from the commit to the handler: p50 ${median(tookMs).toFixed(1)} ms, ${sorted[0]?.toFixed(1)} to ${sorted.at(-1)?.toFixed(1)}\n`,
  );
  expect(median(tookMs)).toBeLessThan(AT_ONCE_MS);
  expect((await system.call("GET", `/api/v1/tasks/${never.task_id}`)).status).toBe(404);
  expect(readSpans(tasks.dir)).toHaveLength(COMMITS);
});

test("A role that may execute it may do nothing else, and others may not even that", async () => {
  for (const sql of [
    "SELECT * FROM tasks",
    "DELETE FROM tasks",
    "SELECT * FROM audit",
    "UPDATE task_types SET paused = true",
  ])
    expect(await refused(sql)).toMatchObject({ code: "42501" });
  await books.query(`REVOKE EXECUTE ON FUNCTION unacked_create_task FROM ${ROLE}`);
  expect(await refused("SELECT unacked_create_task('span')")).toMatchObject({ code: "42501" });
  await books.query(`GRANT EXECUTE ON FUNCTION unacked_create_task TO ${ROLE}`);
});

test("Its search path is its own: a table of the caller's in the place of ours is not looked at", async () => {
  await shop.query("CREATE TEMP TABLE tasks (LIKE orders)");
  await shop.query("SET search_path = pg_temp, public");
  const { task_id: id } = await create("start_at => '2999-01-01'");
  expect(await find(id)).toMatchObject({ status: "Scheduled" });
  await shop.query("DROP TABLE pg_temp.tasks");
  await shop.query("RESET search_path");
});

test("Nor is a function or operator of the caller's in the books' schema: none runs as who owns the books", async () => {
  const overloads = [
    ["FUNCTION", "jsonb_build_array(a jsonb)", "jsonb"],
    ["FUNCTION", "jsonb_path_exists(a jsonb, b text)", "boolean"],
    ["FUNCTION", "told(a text, b xid8)", "text"],
  ];
  await books.query(`GRANT CREATE ON SCHEMA public TO ${ROLE}`);
  for (const [, head, type] of overloads)
    await shop.query(`CREATE FUNCTION public.${head} RETURNS ${type} LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'it runs as %', current_user; END $$`);
  await shop.query("CREATE OPERATOR public.|| (FUNCTION = public.told, LEFTARG = text, RIGHTARG = xid8)");
  try {
    const later = "start_at => '2999-01-01'";
    const first = await create(`key => 'met', ${later}`);
    await shop.query("BEGIN");
    await create(`key => 'met', on_conflict => 'replace', ${later}`);
    await system.call("DELETE", `/api/v1/tasks/${first.task_id}`);
    await shop.query("COMMIT"); // it is over by now, so there is a new one
    const { items } = (await system.call<TaskPage>("GET", "/api/v1/tasks?status=Scheduled")).body;
    expect(items.filter(({ key }) => key === "met")).toMatchObject([{ id: expect.not.stringMatching(first.task_id) }]);
  } finally {
    await books.query(`DROP OWNED BY ${ROLE}`);
    await grant();
  }
});

test("Each is in the audit trail, with the role that did it", async () => {
  const { task_id: id } = await create("start_at => '2999-01-01'");
  const { body } = await system.call<AuditPage>("GET", "/api/v1/audit?action=task.create&limit=1");
  expect(body.items[0]).toMatchObject({
    actor: { name: ROLE, role: "operator", authentication: "database" },
    targets: [{ kind: "task", id }],
    requestId: expect.stringMatching(/^transaction \d+$/),
  });
});

describe("an id", () => {
  test("makes it safe to repeat, also when the task is over, and is refused to another", async () => {
    const id = randomUUID();
    const withId = `id => '${id}'`;
    expect(await create(withId)).toEqual({ task_id: id, outcome: "created" });
    expect((await create(withId)).outcome).toBe("exists");
    expect((await tasks.get(id, "30s")).status).toBe("Completed");
    expect((await create(withId)).outcome).toBe("exists");
    expect(readSpans(tasks.dir)).toHaveLength(1);
    const error = await refused(`SELECT unacked_create_task('other', '{}', id => '${id}')`);
    expect(error).toMatchObject({ code: "23505", constraint: "tasks_pkey" });
  });

  test("finds its task also where somebody has changed its params, and another one's type or pool are refused", async () => {
    const id = randomUUID();
    const later = `id => '${id}', start_at => '2999-01-01'`;
    await create(later);
    const edited = await system.call("POST", `/api/v1/tasks/${id}/retry-with`, {
      params: JSON.parse(params({ version: 2 })),
    });
    expect(edited.status).toBe(202);
    expect((await create(later)).outcome).toBe("exists");
    expect((await tasks.get(id, "30s")).status).toBe("Completed");
    expect((await create(later)).outcome).toBe("exists");
    expect(readSpans(tasks.dir).map(({ version }) => version)).toEqual([2]);
    for (const other of [`'other', '{}'`, `'span', '{}', pool => 'another'`])
      expect(await refused(`SELECT unacked_create_task(${other}, id => '${id}')`)).toMatchObject({ code: "23505" });
  });

  test.each([
    "md5('order-17')::uuid",
    "'01936f60-0b1c-0e5d-9f3a-4b6c8d0e2f41'",
    "'01936f60-0b1c-9e5d-9f3a-4b6c8d0e2f41'",
    "'01936f60-0b1c-7e5d-7f3a-4b6c8d0e2f41'",
    "'01936f60-0b1c-7e5d-cf3a-4b6c8d0e2f41'",
    "'00000000-0000-0000-0000-000000000001'",
    "'ffffffff-ffff-ffff-ffff-fffffffffffe'",
  ])("that is no UUID of RFC 9562 is refused: %s", async (id) => {
    const [{ id: text } = { id: "" }] = (await shop.query(`SELECT (${id})::uuid AS id`)).rows;
    expect(CreateTask.shape.id.safeParse(text).success).toBe(false);
    const error = await refused(`SELECT unacked_create_task('span', '{}', id => ${id})`);
    expect(error).toMatchObject({ code: "22023", message: expect.stringContaining("gen_random_uuid()") });
    expect(error.message).toMatch(/^unacked_create_task: id: /);
  });

  test.each([
    "01936f60-0b1c-1e5d-8f3a-4b6c8d0e2f41",
    "01936f60-0b1c-5e5d-9f3a-4b6c8d0e2f41",
    "01936f60-0b1c-7e5d-af3a-4b6c8d0e2f41",
    "01936f60-0b1c-8e5d-bf3a-4b6c8d0e2f41",
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
  ])("that REST takes is taken: %s", async (id) => {
    expect(CreateTask.shape.id.safeParse(id).success).toBe(true);
    expect(await create(`id => '${id}'`)).toEqual({ task_id: id, outcome: "created" });
    expect((await tasks.get(id, "30s")).status).toBe("Completed");
  });

  test("of no version, in the books since before it was looked at, runs as others do, is listed and cancelled", async () => {
    const [runs, waits] = [md5Uuid("order-17"), md5Uuid("order-18")];
    const { rows } = await books.query(
      `INSERT INTO tasks (id, type, params, pool, priority, due_at, status)
       SELECT u.id, 'span', $2::jsonb, 'default', 0, u.at, u.status FROM unnest($1::uuid[], $3::timestamptz[], $4::text[]) AS u (id, at, status)
       UNION ALL SELECT gen_random_uuid(), 'span', $2::jsonb, 'default', 0, now(), 'Ready' FROM generate_series(1, 20) RETURNING id`,
      [[runs, waits], params(), ["2026-01-01", "2999-01-01"], ["Ready", "Scheduled"]],
    );
    await create();
    for (const { id } of rows) if (id !== waits) expect((await tasks.get(id, "30s")).status).toBe("Completed");
    expect((await system.call<TaskPage>("GET", "/api/v1/tasks?limit=500")).body.items.map(({ id }) => id)).toContain(waits);
    expect(await system.call("DELETE", `/api/v1/tasks/${waits}`)).toMatchObject({ status: 202 });
    expect(await find(waits)).toMatchObject({ status: "Cancelled" });
  });

  test("or a key needs READ COMMITTED, as an older snapshot cannot see what has moved", async () => {
    for (const more of [`id => '${randomUUID()}'`, "key => 'k'"]) {
      await shop.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      expect(await refused(`SELECT unacked_create_task('span', '{}', ${more})`)).toMatchObject({
        code: "0A000",
        message: expect.stringContaining("READ COMMITTED"),
      });
      await shop.query("ROLLBACK");
    }
    await shop.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
    expect((await create("start_at => '2999-01-01'")).outcome).toBe("created");
    await shop.query("COMMIT");
  });
});

test("A key has its four ways, as by REST", async () => {
  const withKey = (onConflict: string) => `key => 'one', start_at => '2999-01-01', on_conflict => '${onConflict}'`;
  const first = await create(withKey("reject"));
  expect(await refused("SELECT unacked_create_task('span', '{}', key => 'one')")).toMatchObject({
    code: "23505",
    constraint: "tasks_key",
    message: expect.stringContaining(first.task_id),
  });
  expect(await create(withKey("return"))).toEqual({ ...first, outcome: "returned" });
  expect(await create(withKey("replace"), params({ version: 2 }))).toEqual({ ...first, outcome: "replaced" });
  expect(await find(first.task_id)).toMatchObject({ params: { version: 2 }, status: "Scheduled" });
  expect(await create(withKey("queue-latest"), params({ version: 3 }))).toEqual({ ...first, outcome: "queued" });
  expect(await find(first.task_id)).toMatchObject({ params: { version: 2 }, runsAgain: true });
  await create("key => 'one', on_conflict => 'replace'", params({ version: 4 }));
  await eventually(() => expect(readSpans(tasks.dir).map(({ version }) => version)).toEqual([4]));
});

test.each(["return", "replace", "queue-latest"])(
  "Who meets another task's key (%s) and does not commit holds up neither its end nor those of others",
  async (onConflict) => {
    const key = `met-${onConflict}`;
    const { task_id: id } = await create(`key => '${key}'`, params({ ms: 15_000 }));
    await eventually(async () => expect(await find(id)).toMatchObject({ status: "Running" }));
    await shop.query("BEGIN");
    const outcome = onConflict === "return" ? "returned" : "queued";
    const met = await create(`key => '${key}', on_conflict => '${onConflict}'`, params({ version: 2 }));
    expect(met).toEqual({ task_id: id, outcome });
    await tasks.get(id, "40s");
    const beside = await system.call<TaskView>("POST", "/api/v1/tasks", { type: "span", params: JSON.parse(params()) });
    expect(await tasks.get(beside.body.id, "30s")).toMatchObject({ status: "Completed" });
    expect(await find(id)).toMatchObject({ status: "Completed" });
    await shop.query("COMMIT");
    if (onConflict === "return") return;
    // That one is over: what was to come after it is a task of its own.
    await eventually(() => expect(readSpans(tasks.dir).map(({ version }) => version)).toContain(2));
  },
);

/** A machine that stands still for as long as a lock is waited for tells nothing; whom the lock holds up waits for as long each time. */
const ROUNDS = 5;

test.runIf(isTurnOf(1))(
  "Who has a key and does not commit holds up only whoever wants that key, and those are told",
  async () => {
    await shop.query("BEGIN");
    // Not due: it has its key still when it is asked for last.
    const { task_id: id } = await create("key => 'kept', start_at => '2999-01-01'");
    const post = async (more: object) => {
      const sinceMs = performance.now();
      const json = { type: "span", params: JSON.parse(params()), ...more };
      const { status, body } = await system.call<ProblemDetails>("POST", "/api/v1/tasks", json);
      return { status, body, ms: performance.now() - sinceMs };
    };
    /** How long the last of those without a key waited, in ms. */
    async function longestMs(round: number): Promise<number> {
      const own = `own-${round}`;
      const [same, batch, ...others] = await Promise.all([
        post({ key: "kept" }),
        system.call<TaskBatchResults>("POST", "/api/v1/tasks/batch", {
          tasks: [{ key: "kept" }, { key: own }, {}].map((one) => ({ type: "span", params: JSON.parse(params()), ...one })),
        }),
        ...Array.from({ length: 20 }, () => post({})),
      ]);
      expect(others.map(({ status }) => status)).toEqual(others.map(() => 201));
      expect(same).toMatchObject({ status: 503, body: { code: "database-unavailable" } });
      expect(same.body.detail).toContain('has the key "kept"');
      expect(batch.body.results).toMatchObject([
        { problem: { detail: expect.stringContaining('has the key "kept"') } },
        { task: { key: own } },
        { task: { key: null } },
      ]);
      const longest = Math.max(...others.map(({ ms }) => ms));
      process.stdout.write(`told after ${same.ms.toFixed(0)} ms; those without a key after ${longest.toFixed(0)} at most\n`);
      return longest;
    }
    const tookMs: number[] = [];
    while (tookMs.length < ROUNDS && !tookMs.some((ms) => ms < WAIT_MS)) tookMs.push(await longestMs(tookMs.length));
    expect(Math.min(...tookMs)).toBeLessThan(WAIT_MS);
    await shop.query("COMMIT");
    expect(await post({ key: "kept", onConflict: "return" })).toMatchObject({ body: { id } });
  },
);

test.runIf(isTurnOf(0))(
  "Of many who replace under one key at once the last version runs last, and never two run at once",
  async () => {
    const replace = (client: pg.Client, version: number) =>
      client.query(`SELECT unacked_create_task('span', $1, key => 'busy', on_conflict => 'replace')`, [
        params({ version, ms: 20 }),
      ]);
    const url = new URL(String(system.env.DATABASE_URL));
    Object.assign(url, { username: ROLE, password: "secret" });
    const clients = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = new pg.Client({ connectionString: url.href });
        await client.connect();
        return client;
      }),
    );
    await Promise.all(
      clients.map(async (client, i) => {
        for (let round = 0; round < 15; round += 1) await replace(client, 1 + i * 15 + round);
        await client.end();
      }),
    );
    await replace(shop, 1_000);
    await eventually(() => expect(readSpans(tasks.dir).map(({ version }) => version)).toContain(1_000));
    const spans = readSpans(tasks.dir).toSorted((a, b) => (a.fromNs < b.fromNs ? -1 : 1));
    expect(spans.at(-1)?.version).toBe(1_000);
    for (const [i, { fromNs }] of spans.slice(1).entries()) expect(fromNs).toBeGreaterThanOrEqual(spans[i]?.toNs ?? 0n);
    const { rows } = await books.query("SELECT count(*)::int AS left FROM task_wishes");
    expect(rows).toEqual([{ left: 0 }]);
  },
);

test.each([
  ["type", "'no blanks', '{}'"],
  ["type", "NULL, '{}'"],
  ["params", "'span', NULL"],
  ["params", `'span', jsonb_build_array(repeat('x', 300000))`],
  ["params", `'span', (repeat('[', 70) || repeat(']', 70))::jsonb`],
  ["params", `'span', '{"a": [1e400]}'`],
  ["params", `'span', '{"a": {"__proto__": 1}}'`],
  ["pool", "'span', '{}', pool => 'no.dots'"],
  ["priority", "'span', '{}', priority => 2000"],
  ["key", "'span', '{}', key => ''"],
  ["on_conflict", "'span', '{}', on_conflict => 'whatever'"],
  ["start_at", "'span', '{}', start_at => 'infinity'"],
  ["max_attempts", "'span', '{}', max_attempts => 0"],
])("What REST would refuse is refused: %s, %s", async (what, args) => {
  const error = await refused(`SELECT unacked_create_task(${args})`);
  expect(error).toMatchObject({ code: "22023", message: expect.stringContaining(`unacked_create_task: ${what}: `) });
});

test("A type that nobody has waits, and nobody's transaction fails for it", async () => {
  const { rows } = await shop.query("SELECT * FROM unacked_create_task('nobodys')");
  expect(await find(rows[0].task_id)).toMatchObject({ status: "Ready", waitsFor: "service" });
});
