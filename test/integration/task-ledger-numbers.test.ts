import { randomUUID } from "node:crypto";
import { TaskEventBatch } from "@unacked/contracts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { Portions } from "../../services/observer-manager/src/adapters/amqp/deliveries/portions.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { TaskLedger } from "../../services/observer-manager/src/operations/tasks/ledger/task-ledger.ts";
import { useBooks } from "../support/servers/books.ts";
import { untilWait } from "../support/servers/lock-waits.ts";
import { taskLedgerOn } from "../support/tasks/task-ledger.ts";

/* A batch of a number counts once, however often and to whomever it comes. */

const books = useBooks("tasks, ended_tasks, task_services, task_figure_deltas");
const query = <Row>(sql: string, parameters: unknown[] = []) => books.dataSource.query<Row[]>(sql, parameters);
beforeAll(() => new PostgresTaskDays(books.dataSource).makeAhead());

/** Pools in which something that was told is found missing. */
let behind: string[];

/** As a manager of its own has it. */
const newLedger = () => taskLedgerOn(books.dataSource, { behind: (pools) => behind.push(...pools) });

const [one, other] = [randomUUID(), randomUUID()].toSorted();
let task: { id: string; send: string };
let ledger: TaskLedger;
/** Begun by one service, which dies; begun by the other. */
let batches: TaskEventBatch[];

beforeEach(async () => {
  ledger = newLedger();
  behind = [];
  const [row] = await query<typeof task>(
    `WITH sent AS (
       INSERT INTO tasks (id, type, params, pool, priority, due_at, status, send_id, sent_at, sends)
       VALUES (gen_random_uuid(), 'work', '{}', 'default', 0, now(), 'Sent', gen_random_uuid(), now(), 1)
       RETURNING id, send_id AS send) SELECT * FROM sent`,
  );
  task = row ?? expect.fail("there is no task");
  batches = [batchOf(one, 1, started()), batchOf(other, 1, started())];
});

const started = () => ({
  kind: "TaskStarted",
  taskId: task.id,
  sendId: task.send,
  runId: randomUUID(),
  at: Date.now(),
});

const batchOf = (serviceId: string | undefined, seq: number, ...events: object[]): TaskEventBatch =>
  TaskEventBatch.parse({ kind: "TaskEventBatch", serviceId, serviceName: "s", pool: "default", generation: 1, seq, events });

const standing = async () => {
  const [live] = await query<object>("SELECT status, interruptions, crashes FROM tasks WHERE id = $1", [task.id]);
  return live;
};
const ONCE = { status: "Running", interruptions: 1, crashes: 1 };

test("What another manager, which was killed behind its COMMIT, writes just then is counted once", async () => {
  const holder = books.dataSource.createQueryRunner();
  await holder.startTransaction();
  await holder.query("SELECT FROM tasks WHERE id = $1 FOR UPDATE", [task.id]);
  const first = ledger.apply(batches, false);
  first.catch(() => undefined); // awaited below, as the second is
  await untilWait(books.dataSource, 1);
  const second = newLedger().apply(batches, true);
  second.catch(() => undefined);
  await untilWait(books.dataSource, 2);
  await holder.commitTransaction();
  await holder.release();
  await Promise.all([first, second]);
  expect(await standing()).toEqual(ONCE);
});

test("What was committed, and whose answer was lost, is tried again and counted once", async () => {
  let isLost = false;
  type Message = { events: number; batch: TaskEventBatch };
  const apply = async (portion: readonly Message[]): Promise<void> => {
    await ledger.apply(
      portion.map(({ batch }) => batch),
      false, // the broker has delivered it once
    );
    if (isLost) return;
    isLost = true;
    throw new Error("Connection terminated unexpectedly");
  };
  const hooks = { apply, failed: () => undefined, giveUp: () => undefined };
  const messages = batches.map((batch) => ({ events: 1, batch }));
  await new Portions().apply<Message>(messages, hooks, new AbortController().signal);
  expect(isLost).toBe(true);
  expect(await standing()).toEqual(ONCE);
});

test("What a service publishes twice, as no confirm has reached it, is counted once, together with others and alone", async () => {
  await ledger.apply([...batches, ...batches.slice(0, 1)], false);
  expect(await standing()).toEqual(ONCE);
  await ledger.apply(batches.slice(0, 1), false);
  await ledger.apply([...batches.slice(0, 1), batchOf(one, 3)], false); // 2 is missing
  expect(await standing()).toEqual(ONCE);
  expect(await query("SELECT last_seq::int FROM task_services WHERE id = $1", [one])).toEqual([{ last_seq: 3 }]);
});

test("A number that is missing is told, wherever it is; and none is where all that was told is there", async () => {
  await ledger.apply([...batches, batchOf(one, 2)], false);
  await newLedger().apply([...batches, batchOf(one, 2), batchOf(other, 2)], true);
  expect(behind).toEqual([]);
  await ledger.apply([batchOf(one, 4)], false); // a standby was promoted that lacks what 3 said
  expect(behind).toEqual(["default"]);
  await ledger.apply([batchOf(one, 5), batchOf(other, 3), batchOf(other, 5)], false);
  await ledger.apply([batchOf(randomUUID(), 7)], false); // and the service itself
  expect(behind).toEqual(["default", "default", "default"]);
});

test("Of a message that is applied event by event each is, and none when all of it was applied before", async () => {
  const [first, second] = [started(), started()];
  const partOf = (event: object) => batchOf(one, 1, event);
  await ledger.applyPart(partOf(first));
  await ledger.applyPart(partOf(second));
  await ledger.apply([batchOf(one, 1)], false);
  expect(behind).toEqual([]);
  const once = { status: "Running", interruptions: 1, crashes: 0 };
  expect(await standing()).toEqual(once);
  await newLedger().applyPart(partOf(first));
  await newLedger().apply([batchOf(one, 1, first, second)], false);
  expect(await standing()).toEqual(once);
});

test("Two managers that write of the same services do not wait for each other, whatever comes first", async () => {
  const [own, another] = [newLedger(), newLedger()];
  for (let seq = 1; seq <= 100; seq += 1)
    await Promise.all([
      own.apply([batchOf(one, seq), batchOf(other, seq)], false),
      another.apply([batchOf(other, seq), batchOf(one, seq)], true),
    ]);
  expect(await query("SELECT last_seq::int FROM task_services")).toEqual([{ last_seq: 100 }, { last_seq: 100 }]);
});
