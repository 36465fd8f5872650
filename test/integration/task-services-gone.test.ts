import { randomUUID } from "node:crypto";
import { TaskEventBatch } from "@unacked/contracts";
import { beforeEach, expect, test } from "vitest";
import { PostgresTaskFigureStore } from "../../services/observer-manager/src/adapters/postgres/tasks/figures/task-figure-store.ts";
import { PostgresTaskLedgerStore } from "../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-ledger-store.ts";
import { TaskLedger } from "../../services/observer-manager/src/operations/tasks/ledger/task-ledger.ts";
import { useBooks } from "../support/servers/books.ts";
import { taskLedgerOn } from "../support/tasks/task-ledger.ts";

/* What is kept of a service that took tasks, and for how long after its end. */

const books = useBooks("services, task_services, task_types, tasks");
const sql = <Row>(text: string, parameters: unknown[] = []) => books.dataSource.query<Row[]>(text, parameters);
const HOUR_S = 3_600;

let store: PostgresTaskLedgerStore;
let ledger: TaskLedger;
beforeEach(() => {
  store = new PostgresTaskLedgerStore(books.dataSource);
  ledger = taskLedgerOn(books.dataSource, { store });
});

/** @param endedAgoS of the row in `services`; "living", or none at all */
async function put(seenAgoS: number, endedAgoS: number | "living" | "not in the books", type = "work"): Promise<string> {
  const id = randomUUID();
  await sql(
    `INSERT INTO task_services (id, generation, name, pool, workers, draining, types, last_seq, seen_at)
     VALUES ($1, 1, 's', 'default', 5, false, jsonb_build_array(jsonb_build_object('type', $3::text)), 7, now() - $2 * interval '1 second')`,
    [id, seenAgoS, type],
  );
  if (endedAgoS !== "not in the books")
    await sql(
      `INSERT INTO services (id, name, pool, state, generation, last_seq, worker_count, ended_at)
       VALUES ($1, 's', 'default', $2, 1, 1, 1, now() - $3 * interval '1 second')`,
      [id, endedAgoS === "living" ? "Suspect" : "Gone", endedAgoS === "living" ? null : endedAgoS],
    );
  return id;
}
const left = async () => (await sql<{ id: string }>("SELECT id FROM task_services")).map(({ id }) => id);

/** A batch of this service that says that the task has begun. */
async function startedBy(serviceId: string, seq: number): Promise<{ batch: TaskEventBatch; id: string }> {
  const [task] = await sql<{ id: string; send: string }>(
    `WITH sent AS (
       INSERT INTO tasks (id, type, params, pool, priority, due_at, status, send_id, sent_at)
       VALUES (gen_random_uuid(), 'work', '{}', 'default', 0, now(), 'Sent', gen_random_uuid(), now()) RETURNING id, send_id AS send)
     SELECT * FROM sent`,
  );
  const { id, send } = task ?? expect.fail("there is no task");
  const started = { kind: "TaskStarted", taskId: id, sendId: send, runId: randomUUID(), at: Date.now() };
  const teller = { serviceId, serviceName: "s", pool: "default", generation: 1 };
  return { batch: TaskEventBatch.parse({ kind: "TaskEventBatch", ...teller, seq, events: [started] }), id };
}

test("Who ended an hour ago, and was not heard of for as long, is forgotten, some at a time; others are not", async () => {
  const kept = [
    await put(1, "living"),
    await put(2 * HOUR_S, "living"),
    await put(2 * HOUR_S, 100),
    await put(HOUR_S - 60, 2 * HOUR_S),
    await put(60, "not in the books"),
  ];
  for (let i = 0; i < 5; i += 1) await put(2 * HOUR_S, 2 * HOUR_S);
  await put(2 * HOUR_S, "not in the books");
  expect([await store.forgetGone(4), await store.forgetGone(4), await store.forgetGone(4)]).toEqual([4, 2, 0]);
  expect((await left()).toSorted()).toEqual(kept.toSorted());
});

test("While nothing is read nobody grows older", async () => {
  for (const seenAgoS of [5 * HOUR_S, 5 * HOUR_S + 60]) await put(seenAgoS, 4 * HOUR_S);
  expect(await store.forgetGone(10)).toBe(0);
});

test("Types are known for as long as that", async () => {
  await put(1, "living", "here");
  const gone = await put(60, 60, "gone");
  const figures = new PostgresTaskFigureStore(books.dataSource);
  const known = async () => [await figures.isKnown("here"), await figures.isKnown("gone")];
  await store.forgetGone(10);
  expect(await known()).toEqual([true, true]);
  await sql("UPDATE task_services SET seen_at = now() - interval '2 hours' WHERE id = $1", [gone]);
  await sql("UPDATE services SET ended_at = now() - interval '2 hours' WHERE id = $1", [gone]);
  await store.forgetGone(10);
  expect(await known()).toEqual([true, false]);
});

test("What one told who is forgotten is not lost, nor applied again when it comes again, and gives him no tasks", async () => {
  await put(1, "living");
  const gone = await put(2 * HOUR_S, 2 * HOUR_S);
  const { batch, id } = await startedBy(gone, 8);
  await store.forgetGone(10);
  expect(await left()).not.toContain(gone);
  await ledger.apply([batch], true);
  expect(await sql("SELECT status, service_id FROM tasks WHERE id = $1", [id])).toEqual([
    { status: "Running", service_id: gone },
  ]);
  expect(await sql("SELECT last_seq::int, workers, types FROM task_services WHERE id = $1", [gone])).toEqual([
    { last_seq: 8, workers: 0, types: [] },
  ]);
  // Somebody else has it by now.
  const other = await startedBy(randomUUID(), 1);
  const [event] = other.batch.events;
  await ledger.apply([{ ...other.batch, events: [{ ...event, ...(await currentSend(id)) }] } as TaskEventBatch], false);
  const before = await sql("SELECT service_id, interruptions, crashes FROM tasks WHERE id = $1", [id]);
  await ledger.apply([batch], true);
  expect(await sql("SELECT service_id, interruptions, crashes FROM tasks WHERE id = $1", [id])).toEqual(before);
});

const currentSend = async (id: string) => {
  const [row] = await sql<{ send: string }>("SELECT send_id AS send FROM tasks WHERE id = $1", [id]);
  return { taskId: id, sendId: row?.send };
};
