import { randomUUID } from "node:crypto";
import { TaskEventBatch, type TaskId, type TaskView } from "@unacked/contracts";
import { beforeAll, expect, test } from "vitest";
import {
  PostgresTaskStore,
  viewOf,
} from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { PostgresTaskLedgerStore } from "../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-ledger-store.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { PostgresTaskProofStore } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-proof-store.ts";
import { newsOf } from "../../services/observer-manager/src/domain/tasks/task-words.ts";
import { useBooks } from "../support/servers/books.ts";

/* What a task says of each of its interruptions: when, on which service, and why, as far as anybody knows. */

const books = useBooks("tasks, ended_tasks, task_services, task_proofs, services");
const query = <Row>(sql: string, parameters: unknown[] = []) => books.dataSource.query<Row[]>(sql, parameters);
beforeAll(() => new PostgresTaskDays(books.dataSource).makeAhead());

const SERVICES = { A: randomUUID(), B: randomUUID(), C: randomUUID() };
type Name = keyof typeof SERVICES;
let seq = 0;

/** All that these services tell is read at once. */
const hear = (...told: [name: Name, ...events: object[]][]): Promise<unknown> =>
  new PostgresTaskLedgerStore(books.dataSource).apply(
    newsOf(
      told.map(([name, ...events]) =>
        TaskEventBatch.parse({
          ...{ kind: "TaskEventBatch", serviceId: SERVICES[name], serviceName: name, pool: "default", generation: 1 },
          ...{ seq: (seq += 1), events },
        }),
      ),
    ),
  );

/** A task that was sent, and what may be told of it. */
async function sent() {
  const [row] = await query<{ id: TaskId; send: string }>(
    `WITH sent AS (
       INSERT INTO tasks (id, type, params, pool, priority, due_at, status, send_id, sent_at, sends)
       VALUES (gen_random_uuid(), 'work', '{}', 'default', 0, now(), 'Sent', gen_random_uuid(), now() - interval '1 hour', 1)
       RETURNING id, send_id AS send)
     SELECT * FROM sent`,
  );
  const { id, send } = row ?? expect.fail("nothing was sent");
  const of = { taskId: id, sendId: send, at: Date.now() };
  const runs = Array.from({ length: 6 }, () => randomUUID());
  const ended = (run: number, outcome: string, more: object = {}) => ({
    ...{ kind: "TaskEnded", ...of, startedAt: Date.now() - 5, runId: runs[run], outcome, ...more },
  });
  return {
    id,
    started: (run: number, interruption?: string) => ({ kind: "TaskStarted", ...of, runId: runs[run], interruption }),
    released: (run: number) => ({ kind: "TaskReleased", ...of, runId: runs[run] }),
    returned: (interruption?: string) => ({ kind: "TaskReturned", ...of, isRedelivered: true, interruption }),
    completed: (run: number, more?: object) => ended(run, "completed", { output: "1", ...more }),
    ended,
    view: async (): Promise<TaskView> => (await viewOf(books.dataSource, id)) ?? expect.fail("there is no task"),
    told: async () => (await viewOf(books.dataSource, id))?.interrupted,
  };
}

/** One of a service, which the books have heard of just now. */
const on = (name: Name, reason: string, detail: string | null = null) => ({
  at: expect.toSatisfy((at: string) => Math.abs(Date.now() - Date.parse(at)) < 60_000),
  ...{ reason, service: { id: SERVICES[name], name }, takenBy: null, detail },
});

test("Who is killed is named once another has the task; who begins it again says what ended its slot; the last three are kept", async () => {
  const task = await sent();
  await hear(["A", task.started(0)]);
  expect((await task.view()).interrupted).toBeUndefined();
  await hear(["B", task.started(1)]);
  expect(await task.view()).toMatchObject({ status: "Running", service: { name: "B" }, interruptions: 1 });
  expect(await task.told()).toEqual([on("A", "service-gone")]);
  await hear(["B", task.started(2, "its slot ended (exit code 3)")]);
  const both = [on("A", "service-gone"), on("B", "restarted", "its slot ended (exit code 3)")];
  expect(await task.told()).toEqual(both);
  await hear(["B", task.ended(2, "crashed", { error: { name: "SlotEndedError", message: "it was alone" } })]);
  expect(await task.told()).toEqual([...both, on("B", "crashed", "SlotEndedError: it was alone")]);
  await query("UPDATE tasks SET status = 'Running', run_id = gen_random_uuid(), send_id = $2, crashes = 0 WHERE id = $1", [
    task.id,
    task.started(0).sendId,
  ]);
  await hear(["C", task.completed(3)]);
  expect(await task.view()).toMatchObject({ status: "Completed", interruptions: 4 });
  expect(await task.told()).toEqual([both[1], on("B", "crashed", "SlotEndedError: it was alone"), on("B", "service-gone")]);
});

test("The third that a task ends leaves all three named in what has Failed", async () => {
  const task = await sent();
  await hear(["A", task.started(0)]);
  await hear(["B", task.started(1)]);
  await hear(["C", task.started(2)]);
  await hear(["A", task.started(3)]);
  expect(await task.view()).toMatchObject({ status: "Failed", interruptions: 3, lastError: { name: "TaskCrashesError" } });
  expect(await task.told()).toEqual([on("A", "service-gone"), on("B", "service-gone"), on("C", "service-gone")]);
});

test("What is read at once says the same of each run, whoever ends it", async () => {
  const task = await sent();
  await hear(["A", task.started(0), task.started(1, 'its slot ended: a "at": null of his')], ["B", task.started(2)]);
  const told = [on("A", "restarted", 'its slot ended: a "at": null of his'), on("A", "service-gone")];
  expect(await task.told()).toEqual(told);
  await hear(["B", task.completed(3, { interruption: "grew too large" })]);
  expect(await task.view()).toMatchObject({ status: "Completed", interruptions: 3 });
  expect(await task.told()).toEqual([...told, on("B", "restarted", "grew too large")]);
  const never = await sent();
  await hear(["A", never.started(0), never.completed(1, { interruption: "exit code 3" })]);
  expect(await never.told()).toEqual([on("A", "restarted", "exit code 3")]);
});

test("Who lost the broker, and says so late, is not said to have gone", async () => {
  const task = await sent();
  await hear(["A", task.started(0)]);
  await hear(["B", task.started(1)]);
  await hear(["C", task.started(2)]);
  await hear(["A", task.released(0)]);
  expect(await task.told()).toEqual([on("A", "lease-lost"), on("B", "service-gone")]);
});

test("What comes back says why, of its own service or of one that has gone; what was given back in order was not interrupted", async () => {
  const [call, bundle, drained] = [await sent(), await sent(), await sent()];
  await hear(["A", ...[call, bundle, drained].map((task) => task.started(0))]);
  await hear(["A", call.returned("its call did it"), drained.released(0)]);
  await hear(["B", bundle.returned(), drained.started(1)]);
  expect(await call.view()).toMatchObject({ status: "Ready", interruptions: 1 });
  expect(await call.told()).toEqual([on("A", "restarted", "its call did it")]);
  expect(await bundle.told()).toEqual([on("A", "service-gone")]);
  expect(await drained.view()).toMatchObject({ status: "Running", interruptions: 0 });
  expect(await drained.told()).toBeUndefined();
});

test("What no service had any more says so, and where it had run; what had only been sent was not interrupted", async () => {
  const [ran, lay] = [await sent(), await sent()];
  await hear(["A", ran.started(0)]);
  const proofs = new PostgresTaskProofStore(books.dataSource);
  await proofs.begin({ pool: "default", markerId: randomUUID(), services: [], gone: [] });
  expect(await proofs.conclude((await proofs.find("default")) ?? expect.fail("no proof"))).toMatchObject({ ready: 2 });
  expect(await ran.told()).toEqual([on("A", "missing-from-inventory")]);
  expect(await lay.told()).toBeUndefined();
});

test("What was cancelled where a service has gone says that it had it", async () => {
  const task = await sent();
  await hear(["A", task.started(0)]);
  await query("DELETE FROM task_services");
  await query("UPDATE tasks SET cancel_requested_at = now()");
  expect(await new PostgresTaskProofStore(books.dataSource).endAbandoned(10)).toMatchObject({ cancelled: [task.id] });
  expect(await task.view()).toMatchObject({ status: "Cancelled", interruptions: 1 });
  expect(await task.told()).toEqual([on("A", "service-gone")]);
});

test("A list does not say it", async () => {
  const task = await sent();
  await hear(["A", task.started(0)], ["B", task.started(1)]);
  const { items } = await new PostgresTaskStore(books.dataSource).list({ limit: 10 });
  expect(items.map(({ interrupted, ...rest }) => [rest.interruptions, interrupted])).toEqual([[1, undefined]]);
});
