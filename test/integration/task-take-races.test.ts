import type { SendId, TaskId } from "@unacked/contracts";
import { beforeEach, expect, test } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { TAKE } from "../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take.ts";
import { PostgresTaskTakeStore } from "../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { TaskTakeDesk } from "../../services/observer-manager/src/operations/tasks/takes/task-take-desk.ts";
import { useHttpManager } from "../support/rest/http-manager.ts";
import { Takers } from "../support/rest/takers.ts";
import { bearer, callersOf, roleTokens } from "../support/rest/tokens.ts";
import { keptLog, SOMEBODY } from "../support/servers/books.ts";
import { interrupted } from "../support/servers/interrupted.ts";
import { putReady } from "../support/system/waiting-tasks.ts";

/* What one who takes does while another is at it. */

const tokens = roleTokens();
const access = () => ({ callers: callersOf(tokens.list, keptLog()) });
const { books, manager } = useHttpManager({ emptied: "tasks, ended_tasks, task_types, task_services, audit", access });

let takers: Takers;

const sql = <Row extends object>(text: string, parameters: unknown[] = []): Promise<Row[]> =>
  books.dataSource.query(text, parameters);
const limit = async (change: object) => {
  const options = { json: change, headers: bearer(tokens.of.admin) };
  expect((await manager.call("PATCH", "/api/v1/task-types/paint", options)).status).toBe(200);
};

beforeEach(() => {
  takers = new Takers((method, path, options) =>
    manager.call(method, path, { ...options, headers: bearer(tokens.of.operator) }),
  );
});

/** Ten looks last longer. Who is told so after that met one whose commit the machine held up. */
const LOOKS_LAST_MS = 90;

/** How many of two who ask at once are told that there is none before they have looked ten times, in so many rounds; each begins with what `put` makes. */
async function toldNone(rounds: number, put: () => Promise<unknown>, types: string[]): Promise<number> {
  let none = 0;
  for (let round = 0; round < rounds; round += 1) {
    await sql("DELETE FROM tasks");
    await put();
    const beganMs = performance.now();
    const given = await Promise.all([takers.take({ types }), takers.take({ types })]);
    if (performance.now() - beganMs < LOOKS_LAST_MS) none += given.filter((tasks) => tasks.length === 0).length;
  }
  return none;
}

/** The parameters of TAKE. */
function takingOf(count: number, types: string[]): unknown[] {
  const { by, ...action } = newAction("task.take", SOMEBODY);
  const recorded = { id: action.id, actor: by.name, role: by.role, authentication: by.authentication };
  const entry = JSON.stringify({ ...recorded, address: by.address, request_id: by.requestId, deed: action.kind });
  return ["default", count, 60_000, types, by.name, entry];
}

test("What a taker of several types has looked at and left is another's, who has come meanwhile", async () => {
  const types = ["paint", "sketch"];
  for (const type of types) await putReady(books.dataSource, 5, { type });
  const first = books.dataSource.createQueryRunner();
  await first.startTransaction();
  expect(await first.query(TAKE, takingOf(5, types))).toHaveLength(5);
  const looks: number[] = [];
  class Store extends PostgresTaskTakeStore {
    override async take(...asked: Parameters<PostgresTaskTakeStore["take"]>) {
      const taken = await super.take(...asked);
      looks.push(taken.tasks.length);
      if (looks.length === 2) await first.commitTransaction();
      return taken;
    }
  }
  const unused = () => expect.unreachable();
  const desk = new TaskTakeDesk({
    store: new Store(books.dataSource),
    takers: undefined as never,
    queue: new PostgresTaskQueueStore(books.dataSource),
    tally: undefined as never,
    wake: unused,
    madeRoom: unused,
    over: unused,
    log: keptLog(),
  });
  const asked = { types, pool: "default", count: 5, leaseMs: 60_000, wait: 0 };
  const taker = { signal: new AbortController().signal, isStillWelcome: unused };
  try {
    expect(await desk.takeTasks(asked, SOMEBODY, taker)).toMatchObject({ tasks: { length: 5 } });
    expect(looks).toEqual([0, 0, 5]);
    expect(await desk.takeTasks(asked, SOMEBODY, taker)).toEqual({ tasks: [] });
    expect(looks).toEqual([0, 0, 5, 0]);
  } finally {
    if (first.isTransactionActive) await first.rollbackTransaction();
    await first.release();
  }
});

test("Who takes of a type that is worked outside, and has no limit, waits for nobody who does so", async () => {
  await limit({ outside: true });
  await putReady(books.dataSource, 5, { type: "paint" });
  const [first, second] = [books.dataSource.createQueryRunner(), books.dataSource.createQueryRunner()];
  try {
    for (const runner of [first, second]) await runner.startTransaction();
    await second.query("SET LOCAL lock_timeout = '2s'");
    for (const runner of [first, second]) expect(await runner.query(TAKE, takingOf(2, ["paint"]))).toHaveLength(2);
  } finally {
    for (const runner of [first, second]) {
      await runner.rollbackTransaction();
      await runner.release();
    }
  }
});

test("The first limit of a type holds from its answer on, whatever is taken just then", async () => {
  const store = new PostgresTaskTakeStore(books.dataSource);
  const asked = { pool: "default", types: ["paint"], count: 1, leaseMs: 60_000 };
  const taken = () => sql("SELECT FROM tasks WHERE lease_until IS NOT NULL");
  for (let round = 0; round < 20; round += 1) {
    await sql("TRUNCATE tasks, task_types");
    await limit({ outside: true });
    await putReady(books.dataSource, 300, { type: "paint" });
    let answered = false;
    const taking = Array.from({ length: 3 }, async () => {
      while (!answered) await store.take(asked, newAction("task.take", SOMEBODY));
    });
    await limit({ paused: true });
    const before = await taken();
    answered = true;
    await Promise.all(taking);
    expect(await taken()).toHaveLength(before.length);
  }
});

test("Of two takers who come at once for two tasks of two types each gets one", async () => {
  const types = ["paint", "sketch"];
  const put = () => Promise.all(types.map((type) => putReady(books.dataSource, 1, { type })));
  expect(await toldNone(200, put, types)).toBe(0);
});

test("Of two takers who come at once for a type whose rate has room for both each gets one", async () => {
  await limit({ ratePerSecond: 1_000, outside: true });
  expect(await toldNone(50, () => putReady(books.dataSource, 10, { type: "paint" }), ["paint"])).toBe(0);
});

test("A late end of a task that is retried just then is refused, and not told that there is no such task", async () => {
  await limit({ outside: true });
  const { id } = await takers.create();
  const { sendId } = await takers.takeOne();
  const lateEnd = () => {
    const retry = () => manager.call("POST", `/api/v1/tasks/${id}/retry`, { headers: bearer(tokens.of.operator) });
    const store = new PostgresTaskTakeStore(
      interrupted(books.dataSource, (text) => text.includes("FROM ended_tasks WHERE id = $1"), retry),
    );
    const held = { id: id as TaskId, sendId: sendId as SendId };
    return store.end(held, () => ({ outcome: "completed", output: "1" }), newAction("task.complete", SOMEBODY));
  };
  await sql("UPDATE tasks SET crashes = 2, lease_until = now() - interval '1 ms' WHERE id = $1", [id]);
  await new PostgresTaskTakeStore(books.dataSource).endLeases(10);
  expect((await takers.get(id)).status).toBe("Failed");
  expect(await lateEnd()).toEqual({ kind: "not-held", status: "Ready" });
  expect((await takers.get(id)).status).toBe("Ready");
});
