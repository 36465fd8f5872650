import { randomUUID } from "node:crypto";
import { CreateFlow, newFlowId, PutSchedule, type TaskId } from "@unacked/contracts";
import type { DataSource, QueryRunner } from "typeorm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { PostgresFlowFollowStore } from "../../services/observer-manager/src/adapters/postgres/flows/flow-follow-store.ts";
import { PostgresFlowStore } from "../../services/observer-manager/src/adapters/postgres/flows/postgres-flow-store.ts";
import { PostgresScheduleStore } from "../../services/observer-manager/src/adapters/postgres/schedules/postgres-schedule-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { PostgresTaskFailureStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/task-failure-store.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { ScheduleDesk } from "../../services/observer-manager/src/operations/schedules/schedule-desk.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, SOMEBODY, useBooks } from "../support/servers/books.ts";
import { untilWait } from "../support/servers/lock-waits.ts";

/* Who is ended, as he and somebody else wait for each other's tasks, does it again: nobody who asked is told. */

const books = useBooks("schedules, tasks, ended_tasks, task_services, audit, flows, flow_tasks, flow_edges, flow_ends");

/**
 * PostgreSQL looks once whether somebody waits in a circle, so long after he began to (1 s): on a machine that does much else the other
 * may join him later, and nobody finds it.
 */
let patient: DataSource;
beforeAll(async () => {
  const url = new URL(books.databaseUrl);
  url.searchParams.set("options", "-c deadlock_timeout=5s");
  patient = await createDataSource({ databaseUrl: String(url), log: keptLog() }).initialize();
});
afterAll(() => patient.destroy());

const deadlocks = async (): Promise<number> => {
  const [row] = await books.dataSource.query(
    "SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = current_database()",
  );
  return row.count;
};

/** Does it while another, who has done `first`, does `second` as soon as it waits for him: so that it is ended, and not he. */
async function meanwhile<Result>(
  does: { first: (other: QueryRunner) => Promise<unknown>; second: (other: QueryRunner) => Promise<unknown> },
  it: () => Promise<Result>,
): Promise<Result> {
  const before = await deadlocks();
  const other = books.dataSource.createQueryRunner();
  await other.startTransaction();
  await other.query("SET LOCAL deadlock_timeout = '10min'");
  await does.first(other);
  const result = it();
  result.catch(() => undefined); // awaited below
  await untilWait(books.dataSource);
  await does.second(other);
  await other.commitTransaction();
  await other.release();
  const done = await result;
  await eventually(async () => expect(await deadlocks()).toBeGreaterThan(before));
  return done;
}

const lock = (id: string | undefined) => (other: QueryRunner) =>
  other.query("SELECT FROM tasks WHERE id = $1 FOR UPDATE", [id]);

it("A run by hand that cancels what runs", async () => {
  const desk = new ScheduleDesk({
    store: new PostgresScheduleStore(patient),
    types: new PostgresTaskStore(books.dataSource),
    wake: () => undefined,
    wakeTasks: () => undefined,
    cancelled: () => undefined,
  });
  await desk.putSchedule("s", PutSchedule.parse({ everyMs: 60_000, overlap: "queue", task: { type: "t" } }), SOMEBODY);
  for (let i = 0; i < 2; i += 1) await desk.runSchedule("s", { overlap: "allow" }, SOMEBODY);
  // As those of a schedule are that cancels what runs, while it is told to end.
  await new PostgresTaskDays(books.dataSource).makeAhead();
  await books.dataSource.query("UPDATE occurrences SET open = true");
  const [first, last] = (await books.dataSource.query<{ id: string }[]>("SELECT id FROM tasks ORDER BY id")).map(
    ({ id }) => id,
  );
  const run = await meanwhile({ first: lock(last), second: lock(first) }, () =>
    desk.runSchedule("s", { overlap: "cancel-running" }, SOMEBODY),
  );
  expect(run).toMatchObject({ status: "started", cause: "manual" });
  expect(await books.dataSource.query("SELECT id FROM tasks")).toHaveLength(1);
});

it("A retry with other params, whose key somebody has who runs many again", async () => {
  const [id, winner] = [randomUUID(), randomUUID()];
  await new PostgresTaskDays(books.dataSource).makeAhead();
  await books.dataSource.query(
    `INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, created_at, ended_at, key)
     VALUES ($1, 't', '{}', 'default', 0, 'Failed', now(), 1, 0, 0, 1, now(), now(), 'one')`,
    [id],
  );
  const retry = newAction("task.retry", SOMEBODY);
  const does = {
    first: (other: QueryRunner) =>
      other.query(
        `INSERT INTO tasks (id, type, params, pool, priority, due_at, status, key) VALUES ($1, 't', '{}', 'default', 0, now(), 'Ready', 'one')`,
        [winner],
      ),
    second: (other: QueryRunner) => other.query("SELECT FROM ended_tasks WHERE id = $1 FOR UPDATE", [id]),
  };
  const store = new PostgresTaskFailureStore(books.dataSource); // it waits for a key no longer than 2 s
  expect(await meanwhile(does, () => store.retryWith(id as TaskId, { a: 2 }, retry))).toEqual({ kind: "key-taken", winner });
});

/** One task that two come after. @returns the flow, and its tasks' ids by ref */
async function createFlow() {
  await new PostgresTaskDays(books.dataSource).makeAhead();
  const steps = [{ ref: "first" }, { ref: "a", after: ["first"] }, { ref: "b", after: ["first"] }];
  const { tasks = [] } = CreateFlow.parse({ tasks: steps.map((step) => ({ type: "t", ...step })) });
  const store = new PostgresFlowStore(books.dataSource);
  const id = newFlowId();
  await store.insert({ id, name: undefined, tasks }, newAction("flow.create", SOMEBODY));
  const rows = await books.dataSource.query<{ ref: string; id: TaskId }[]>(
    "SELECT flow_ref AS ref, id FROM tasks ORDER BY id",
  );
  return { store, id, taskOf: new Map(rows.map((row) => [row.ref, row.id])) };
}

it("A flow that is cancelled whole, some of its tasks at a time", async () => {
  const { store, id, taskOf } = await createFlow();
  await store.cancel(id, newAction("flow.cancel", SOMEBODY));
  const [lowest, , highest] = [...taskOf.values()];
  const follower = new PostgresFlowFollowStore(patient);
  const done = await meanwhile({ first: lock(highest), second: lock(lowest) }, () => follower.cancelSome(10));
  expect(done?.over.toSorted()).toEqual([...taskOf.values()].toSorted());
});

it("An end of a task of a flow that unlocks others", async () => {
  const { id, taskOf } = await createFlow();
  await books.dataSource.query(
    `INSERT INTO flow_ends (flow_id, ref, task_id, status, ended_at)
     SELECT flow_id, ref, task_id, 'Completed', now() FROM flow_tasks WHERE flow_id = $1 AND ref = 'first'`,
    [id],
  );
  const follower = new PostgresFlowFollowStore(patient);
  // In which order it unlocks them is PostgreSQL's choice; the flow it has locked before.
  const lockFlow = (other: QueryRunner) => other.query("SELECT FROM flows WHERE id = $1 FOR UPDATE", [id]);
  const does = { first: lock(taskOf.get("b")), second: lockFlow };
  const done = await meanwhile(does, () => follower.follow());
  // Where the other still has the flow as it is done again, a flow that others work on is passed over, as ever: the next look finds it.
  expect(done.ends === 0 ? await follower.follow() : done).toMatchObject({ ends: 1, unlocked: 2 });
});
