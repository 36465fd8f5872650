import { randomUUID } from "node:crypto";
import { newTaskId, type SendId, type StartTask, type TaskEnded, TaskEventBatch, type TaskId } from "@unacked/contracts";
import { EntityManager } from "typeorm";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { PostgresTaskLedgerStore } from "../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-ledger-store.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { newsOf } from "../../services/observer-manager/src/domain/tasks/task-words.ts";
import type { SendCreations } from "../../services/observer-manager/src/operations/tasks/ledger/task-ledger-store.ts";
import { useBooks } from "../support/servers/books.ts";
import { untilWait } from "../support/servers/lock-waits.ts";
import { taskLedgerOn } from "../support/tasks/task-ledger.ts";

/* What becomes of ends on their way into the books: those that say no more than "completed" go by a statement of their own. */

const books = useBooks("tasks, ended_tasks, task_services, task_figure_deltas");
const query = <Row>(sql: string, parameters: unknown[] = []) => books.dataSource.query<Row[]>(sql, parameters);
beforeAll(() => new PostgresTaskDays(books.dataSource).makeAhead());

interface Sent {
  id: string;
  send: string;
  run: string;
}

const running = async (count: number): Promise<Sent[]> =>
  await query<Sent>(
    `WITH sent AS (
       INSERT INTO tasks (id, type, params, pool, priority, due_at, status, send_id, sent_at, run_id, sends)
       SELECT gen_random_uuid(), 'work', '{"v":1}', 'default', 0, now(), 'Running', gen_random_uuid(), now(), gen_random_uuid(), 1
       FROM generate_series(1, $1) RETURNING id, send_id AS send, run_id AS run)
     SELECT * FROM sent`,
    [count],
  );

const service = { serviceId: randomUUID(), serviceName: "a-service", pool: "default", generation: 1 };
let seq = 0;

/** Told in one batch. */
function batchOf(...ends: [Sent, Partial<TaskEnded>][]): TaskEventBatch {
  const now = Date.now();
  return batchWith(
    ...ends.map(([{ id, send, run }, end]) => ({
      kind: "TaskEnded",
      taskId: id,
      sendId: send,
      runId: run,
      at: now,
      startedAt: now - 5,
      outcome: "completed",
      ...end,
    })),
  );
}

const batchWith = (...events: object[]): TaskEventBatch =>
  TaskEventBatch.parse({ kind: "TaskEventBatch", ...service, seq: (seq += 1), events });

const apply = (...ends: [Sent, Partial<TaskEnded>][]) =>
  new PostgresTaskLedgerStore(books.dataSource).apply(newsOf([batchOf(...ends)]));

const ended = () => query<{ id: string; status: string; story: unknown }>("SELECT id, status, story FROM ended_tasks");

test("Each end of a batch is what it is, whichever statement writes it", async () => {
  const [plain, emergency, failed, again] = (await running(4)) as [Sent, Sent, Sent, Sent];
  const error = { name: "TypeError", message: "no" };
  const { over } = await apply(
    [plain, { output: '{"bytes":7}' }],
    [emergency, { completedBy: "emergency" }],
    [failed, { outcome: "failed", error, retryInMs: null }],
    [again, { outcome: "failed", error, retryInMs: 60_000 }],
  );
  expect(new Map(over.map(({ id, status }) => [id, status]))).toEqual(
    new Map<string, string>([
      [plain.id, "Completed"],
      [emergency.id, "Completed"],
      [failed.id, "Failed"],
    ]),
  );
  expect((await ended()).find(({ id }) => id === emergency.id)?.story).toEqual({ completedBy: "emergency" });
  expect(await query("SELECT output, run_id, service_name, failures FROM ended_tasks WHERE id = $1", [plain.id])).toEqual([
    { output: '{"bytes":7}', run_id: plain.run, service_name: "a-service", failures: 0 },
  ]);
  expect(await query("SELECT id, status FROM tasks")).toEqual([{ id: again.id, status: "Scheduled" }]);
  expect(
    await query(
      "SELECT sum(completed)::int AS completed, sum(failed)::int AS failed, sum(cardinality(buckets))::int AS ran FROM task_figure_deltas",
    ),
  ).toEqual([{ completed: 2, failed: 1, ran: 4 }]);
});

const postponed = { outcome: "postponed", postponement: { inMs: 60_000, reason: "closed" } } as const;

/** Who has its message now. @param isKilled the service that had it before has gone */
const runsAgain = async (id: string, isKilled: boolean): Promise<Sent> => {
  const run = randomUUID();
  const [rows] = await query<{ id: string; send: string }[]>(
    `UPDATE tasks SET status = 'Running', send_id = gen_random_uuid(), sent_at = now(), service_id = gen_random_uuid(),
       run_id = CASE WHEN $2 THEN gen_random_uuid() ELSE $3 END WHERE id = $1 RETURNING id, send_id AS send`,
    [id, isKilled, run],
  );
  return { ...(rows?.[0] ?? expect.fail("it is over")), run };
};

test("The third service that a task ends is the last, also where it is told in one batch that the next run puts it off", async () => {
  const three = (await running(3)) as [Sent, Sent, Sent];
  // Two services had gone with each, and so has the one that had it before this.
  await query("UPDATE tasks SET crashes = 2, run_id = gen_random_uuid(), service_id = gen_random_uuid()");
  const [apart, together, newer] = three;
  await query(`UPDATE tasks SET next_params = '{"v":2}' WHERE id = $1`, [newer.id]);
  const started = { kind: "TaskStarted", taskId: apart.id, sendId: apart.send, runId: apart.run, at: Date.now() };
  await new PostgresTaskLedgerStore(books.dataSource).apply(newsOf([batchWith(started)]));
  await apply([apart, postponed], [together, postponed], [newer, postponed]);
  expect(new Map((await ended()).map(({ id, status }) => [id, status]))).toEqual(
    new Map(three.map(({ id }) => [id, "Failed"])),
  );
});

test("What ends its service every other time, and puts itself off between, is Failed after three; one in ten is forgiven", async () => {
  const [guilty, poller] = (await running(2)) as [Sent, Sent];
  const crashesOf = async ({ id }: Sent): Promise<number | undefined> =>
    (await query<{ crashes: number }>("SELECT crashes FROM tasks WHERE id = $1", [id]))[0]?.crashes;
  const killedWith: (number | undefined)[] = [];
  while (killedWith.length < 10 && (await crashesOf(guilty)) !== undefined) {
    await apply([await runsAgain(guilty.id, true), postponed]);
    killedWith.push(await crashesOf(guilty));
  }
  expect(killedWith).toEqual([1, 2, undefined]);
  await query("UPDATE tasks SET crashes = 2 WHERE id = $1", [poller.id]);
  const left: (number | undefined)[] = [];
  for (let run = 1; run <= 40; run += 1) {
    await apply([await runsAgain(poller.id, run > 20 && run % 10 === 1), postponed]);
    if (run % 10 <= 1) left.push(await crashesOf(poller));
  }
  expect(left).toEqual([2, 1, 1, 0, 1, 0, 1, 0]);
});

test("That an emergency handler has completed it is said of no later run, with newer params of its key", async () => {
  const both = await running(2);
  await query(`UPDATE tasks SET next_params = '{"v":2}'`);
  await apply(...both.map((one): [Sent, Partial<TaskEnded>] => [one, { completedBy: "emergency" }]));
  const [again, off] = (await query<Sent>(
    `UPDATE tasks SET status = 'Running', send_id = gen_random_uuid(), run_id = gen_random_uuid(), sent_at = now()
     RETURNING id, send_id AS send, run_id AS run`,
  ).then(([rows]) => rows as unknown as Sent[])) as [Sent, Sent];
  await apply([again, {}], [off, { outcome: "postponed", postponement: { inMs: 60_000, reason: "closed" } }]);
  expect(await ended()).toEqual([{ id: again.id, status: "Completed", story: null }]);
  expect(await query("SELECT story - 'until' AS story FROM tasks")).toEqual([
    { story: { postpones: 1, postponedFor: "closed" } },
  ]);
});

test("It says what others may begin now: as many as have ended, or perhaps more, or nobody", async () => {
  const made: string[] = [];
  const ledger = taskLedgerOn(books.dataSource, { committed: (_, told) => made.push(told.made) });
  const [one, other, third, fourth] = (await running(4)) as [Sent, Sent, Sent, Sent];
  const about = ({ id, send }: Sent) => ({ taskId: id, sendId: send, at: Date.now() });
  const workers = { kind: "TaskWorkers", workers: 5, draining: false, types: [] };
  for (const batch of [
    batchWith({ kind: "TaskStarted", ...about(one), runId: one.run }),
    batchOf([one, {}]),
    batchOf([one, {}]), // of one that is over
    batchOf([other, { outcome: "failed", error: { name: "Error", message: "no" }, retryInMs: 1 }]),
    batchWith({ kind: "TaskReturned", ...about(third), isRedelivered: false }),
    batchWith(workers),
    batchWith(workers, ...batchOf([fourth, {}]).events),
  ])
    await ledger.apply([batch], false);
  expect(made).toEqual(["nothing", "room", "more", "more", "more", "more", "more"]);
});

test("What comes back three times from services that have gone goes alone from then on, also where none has told that it began", async () => {
  const [one] = (await running(1)) as [Sent];
  const queue = new PostgresTaskQueueStore(books.dataSource);
  const asked = { window: 10, workers: 10, types: ["work"], batches: new Map([["work", 100]]) };
  const unhurt: boolean[] = [];
  for (let i = 0; i < 4; i += 1) {
    await query("UPDATE tasks SET status = 'Sent', run_id = NULL");
    const [{ send } = { send: "" }] = await query<{ send: string }>("SELECT send_id AS send FROM tasks");
    const back = { kind: "TaskReturned", taskId: one.id, sendId: send, at: Date.now(), isRedelivered: true };
    await new PostgresTaskLedgerStore(books.dataSource).apply(newsOf([batchWith(back)]));
    const { tasks } = await queue.claim("default", asked);
    unhurt.push(...tasks.map(({ isUnhurt }) => isUnhurt));
  }
  expect(unhurt).toEqual([true, true, false, false]);
});

test("What comes back as no slot of its own was free lets others go first: they would wait for as long as it finds none", async () => {
  const [one, other] = (await running(3)) as [Sent, Sent, Sent];
  await query("UPDATE tasks SET status = 'Sent', run_id = NULL, due_at = now() - interval '1 hour'");
  const toReady = "UPDATE tasks SET status = 'Ready', send_id = NULL, due_at = now() - interval '1 minute'";
  await query(`${toReady} WHERE id <> ALL($1::uuid[])`, [[one.id, other.id]]);
  const back = ({ id, send }: Sent) => ({ kind: "TaskReturned", taskId: id, sendId: send, at: Date.now() });
  const told = batchWith({ ...back(one), noSlot: true }, back(other)); // the other only waited for a worker
  await new PostgresTaskLedgerStore(books.dataSource).apply(newsOf([told]));
  const { tasks } = await new PostgresTaskQueueStore(books.dataSource).claim("default", {
    ...{ window: 2, workers: 2, types: ["work"] },
  });
  expect(tasks).toHaveLength(2);
  expect(tasks.map(({ task }) => task.taskId)).not.toContain(one.id);
});

test("What comes back together with the word that it began is interrupted, and not counted as handed on", async () => {
  const [one] = (await running(1)) as [Sent];
  await query("UPDATE tasks SET status = 'Sent', run_id = NULL");
  const of = { taskId: one.id, sendId: one.send, at: Date.now() };
  const told = batchWith(
    { kind: "TaskStarted", ...of, runId: one.run },
    { kind: "TaskReturned", ...of, isRedelivered: true },
  );
  await new PostgresTaskLedgerStore(books.dataSource).apply(newsOf([told]));
  expect(await query("SELECT status, interruptions, story->'handedOn' AS handed FROM tasks")).toEqual([
    { status: "Ready", interruptions: 1, handed: null },
  ]);
});

test("What goes alone since it came back three times is not claimed for a call with others either", async () => {
  const [first, one, other] = (await running(3)) as [Sent, Sent, Sent];
  for (const [{ id }, handedOn] of [
    [one, 3],
    [other, 2],
  ] as const)
    await query("UPDATE tasks SET status = 'Ready', send_id = NULL, run_id = NULL, story = $2::jsonb WHERE id = $1", [
      id,
      JSON.stringify({ handedOn }),
    ]);
  const call = { type: "work", taskId: first.id } as StartTask;
  const claimed = await new PostgresTaskQueueStore(books.dataSource).claimCompanions("default", call, 10);
  expect(claimed.map(({ task }) => task.taskId)).toEqual([other.id]);
});

test("An end that is told twice, or of an older send, changes nothing", async () => {
  const [one, other] = (await running(2)) as [Sent, Sent];
  await apply([one, {}]);
  const { over } = await apply([one, {}], [{ ...other, send: randomUUID() }, {}]);
  expect(over).toEqual([]);
  expect((await ended()).map(({ id }) => id)).toEqual([one.id]);
  expect(await query("SELECT id, status FROM tasks")).toEqual([{ id: other.id, status: "Running" }]);
});

test("Of a task that ended in two sends the current one counts, whichever is told first", async () => {
  const [one, other] = (await running(2)) as [Sent, Sent];
  const older = (task: Sent): Sent => ({ ...task, send: randomUUID(), run: randomUUID() });
  await apply([older(one), {}], [one, {}], [other, {}], [older(other), {}]);
  const rows = await query<Sent>("SELECT id, run_id AS run FROM ended_tasks");
  expect(new Map(rows.map(({ id, run }) => [id, run]))).toEqual(
    new Map([
      [one.id, one.run],
      [other.id, other.run],
    ]),
  );
  expect(await query("SELECT FROM tasks")).toEqual([]);
});

test("Of two ends of two sends that are told together only what the current one has created is created", async () => {
  const [one, other] = (await running(2)) as [Sent, Sent];
  const sent = [one, other].flatMap((current) => [{ ...current, send: randomUUID(), run: randomUUID() }, current]);
  const told = [...sent.slice(0, 2), ...sent.slice(2).toReversed()]; // whichever is told first
  const child = { params: {}, pool: "default", priority: 0, onConflict: "reject" as const };
  const creations = new Map<SendId, SendCreations>();
  for (const { id, send } of sent) {
    const type = send === one.send || send === other.send ? "of-the-current" : "of-the-older";
    const wanted = [{ ...child, id: newTaskId(), type, parentId: id as TaskId }];
    creations.set(send as SendId, { wanted, refused: [] });
  }
  const news = newsOf([batchOf(...told.map((task): [Sent, Partial<TaskEnded>] => [task, {}]))]);
  await new PostgresTaskLedgerStore(books.dataSource).apply(news, creations);
  expect(await query("SELECT type FROM tasks")).toEqual([{ type: "of-the-current" }, { type: "of-the-current" }]);
});

test("A key that somebody's open transaction has holds up an end by less than a second, and what asks for it is refused", async () => {
  const [one] = (await running(1)) as [Sent];
  const app = books.dataSource.createQueryRunner();
  await app.startTransaction();
  await app.query(
    "SELECT unacked_create_task('child', '{}', key => 'open'), unacked_create_task('child', '{}', key => 'too')",
  );
  const child = { type: "child", params: {}, pool: "default", priority: 0, onConflict: "reject" as const };
  const wanted = [{ key: "open" }, { key: "free" }, { key: "too" }, {}].map((key) => ({
    ...child,
    ...key,
    id: newTaskId(),
  }));
  const creations = new Map([[one.send as SendId, { wanted, refused: [] }]]);
  const asked = vi.spyOn(EntityManager.prototype, "query");
  onTestFinished(() => asked.mockRestore());
  const store = new PostgresTaskLedgerStore(books.dataSource);
  const { over } = await store.apply(newsOf([batchOf([one, {}])]), creations);
  const waitsMs = asked.mock.calls.map(([sql]) => Number(/^SET LOCAL lock_timeout = (\d+)$/.exec(sql)?.[1] ?? 0));
  await app.rollbackTransaction();
  await app.release();
  expect(over).toMatchObject([{ id: one.id, status: "Completed" }]);
  expect((await query<{ key: string | null }>("SELECT key FROM tasks")).map(({ key }) => key).toSorted()).toEqual([
    "free",
    null,
  ]);
  expect(waitsMs.some((ms) => ms > 0)).toBe(true);
  expect(waitsMs.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(1_000);
});

test("Newer params that are committed while the completion waits for its row are run", async () => {
  const [one, other] = (await running(2)) as [Sent, Sent];
  const writer = books.dataSource.createQueryRunner();
  await writer.startTransaction();
  await writer.query(`UPDATE tasks SET next_params = '{"v":2}' WHERE id = $1`, [one.id]);
  const applied = apply([one, {}], [other, {}]);
  applied.catch(() => undefined); // awaited below
  await untilWait(books.dataSource);
  await writer.commitTransaction();
  await writer.release();
  expect((await applied).over).toEqual([{ id: other.id, sendId: other.send, status: "Completed" }]);
  expect(await query("SELECT id, status, params, next_params FROM tasks")).toEqual([
    { id: one.id, status: "Ready", params: { v: 2 }, next_params: null },
  ]);
});

test("What was cancelled and is given back to the queue before its service hears of it is over, and begins nowhere else", async () => {
  const [wanted, cancelled, newer] = (await running(3)) as [Sent, Sent, Sent];
  await query("UPDATE tasks SET failures = 2");
  await query("UPDATE tasks SET cancel_requested_at = now(), flow_id = gen_random_uuid(), flow_ref = 'a' WHERE id = $1", [
    cancelled.id,
  ]);
  await query(`UPDATE tasks SET cancel_requested_at = now(), next_params = '{"v":2}' WHERE id = $1`, [newer.id]);
  const events = [wanted, cancelled, newer].map(({ id: taskId, send: sendId, run: runId }) => {
    return { kind: "TaskReleased", taskId, sendId, runId, at: Date.now() };
  });
  const other = randomUUID();
  await query(
    "INSERT INTO task_services (id, generation, name, pool, workers, draining, types) VALUES ($1, 1, 'other', 'default', 1, false, '[]')",
    [other],
  );
  const { over, hasFlowEnds, unwanted } = await new PostgresTaskLedgerStore(books.dataSource).apply(
    newsOf([batchWith(...events)]),
  );
  expect([over, hasFlowEnds]).toEqual([[{ id: cancelled.id, status: "Cancelled" }], true]);
  const refused = unwanted.filter(({ serviceId }) => serviceId === other).map(({ sendId }) => sendId as string);
  expect(refused.toSorted()).toEqual([cancelled.send, newer.send].toSorted());
  expect(await ended()).toMatchObject([{ id: cancelled.id, status: "Cancelled" }]);
  const left = await query<object>("SELECT id, status, send_id, params, failures, cancel_requested_at FROM tasks");
  expect(left).toHaveLength(2);
  expect(left).toContainEqual({
    id: wanted.id,
    status: "Sent",
    send_id: wanted.send,
    params: { v: 1 },
    failures: 2,
    cancel_requested_at: null,
  });
  // The newer ones have not failed yet.
  const again = { id: newer.id, status: "Ready", send_id: null, params: { v: 2 }, failures: 0, cancel_requested_at: null };
  expect(left).toContainEqual(again);
});

test("What runs for long is to be ended where it is of no current send, and nothing else is", async () => {
  const [current, sentAgain, over] = (await running(3)) as [Sent, Sent, Sent];
  await apply([over, {}]);
  await query("UPDATE tasks SET send_id = gen_random_uuid() WHERE id = $1", [sentAgain.id]);
  const [ending] = (await running(1)) as [Sent];
  const unknown = { id: newTaskId(), send: randomUUID() };
  const tasks = [current, sentAgain, over, ending, unknown].map(({ id: taskId, send: sendId }) => ({ taskId, sendId }));
  const batch = batchWith({ kind: "TasksRunning", tasks }, ...batchOf([ending, {}]).events);
  const { unwanted } = await new PostgresTaskLedgerStore(books.dataSource).apply(newsOf([batch]));
  const { serviceId, generation } = service;
  expect(unwanted.map(({ sendId }) => sendId)).toEqual([sentAgain, over, unknown].map(({ send }) => send));
  expect(unwanted).toContainEqual({ taskId: over.id, sendId: over.send, serviceId, generation });
});

test("A service that says any time of a postponement or a run says no more than a year, and none before all times", async () => {
  const [at, inMs, long] = (await running(3)) as [Sent, Sent, Sent];
  const far = 8_640_000_000_000_000;
  await apply(
    [at, { outcome: "postponed", postponement: { at: far, reason: "" } }],
    [inMs, { outcome: "postponed", postponement: { inMs: far, reason: "" } }],
    [long, { at: far, startedAt: 0 }],
  );
  expect(await query("SELECT id, status, due_at <= now() + interval '367 days' AS soon FROM tasks ORDER BY id")).toEqual(
    [at, inMs].map(({ id }) => ({ id, status: "Scheduled", soon: true })).toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  );
  expect(await query("SELECT id, started_at > '1970-01-01' AS started FROM ended_tasks")).toEqual([
    { id: long.id, started: true },
  ]);
});

/** What services tell of one task whose connections are lost one after the other. */
const ofServices = (...events: [name: string, event: object][]): Promise<unknown> =>
  new PostgresTaskLedgerStore(books.dataSource).apply(
    newsOf(
      events.map(([serviceName, event]) => {
        const serviceId = named.get(serviceName) ?? randomUUID();
        named.set(serviceName, serviceId);
        const from = { ...service, serviceId, serviceName, seq: (seq += 1) };
        return TaskEventBatch.parse({ kind: "TaskEventBatch", ...from, events: [event] });
      }),
    ),
  );
const named = new Map<string, string>();

test("Who lost its connection, and says so late, has not ended: however often, the task goes on, and has no crash against it", async () => {
  const [{ id, send, run: a }] = (await running(1)) as [Sent];
  const ofSend = { taskId: id, sendId: send, at: Date.now() };
  const start = (runId: string) => ({ kind: "TaskStarted", ...ofSend, runId });
  const release = (runId: string) => ({ kind: "TaskReleased", ...ofSend, runId });
  const [b, c, d, e, f] = Array.from({ length: 5 }, () => randomUUID()) as [string, string, string, string, string];
  const standing = () => query("SELECT status, run_id, interruptions, crashes, story FROM tasks");
  await query("UPDATE tasks SET service_id = gen_random_uuid()");
  // Each is told later than the start elsewhere; then within one batch with it; then of a run that began within a batch.
  await ofServices(["B", start(b)]);
  expect(await standing()).toMatchObject([{ interruptions: 1, crashes: 1, story: { lost: [a] } }]);
  await ofServices(["A", release(a)]);
  expect(await standing()).toMatchObject([
    { status: "Running", run_id: b, interruptions: 1, crashes: 0, story: { lost: [] } },
  ]);
  await ofServices(["C", start(c)], ["B", release(b)]);
  expect(await standing()).toMatchObject([{ run_id: c, interruptions: 1, crashes: 0 }]);
  await ofServices(["D", start(d)], ["E", start(e)]);
  expect(await standing()).toMatchObject([{ run_id: e, interruptions: 3, crashes: 2, story: { lost: [c, d] } }]);
  await ofServices(["D", release(d)], ["C", release(c)], ["A", release(a)]);
  expect(await standing()).toMatchObject([{ status: "Running", run_id: e, interruptions: 3, crashes: 0 }]);
  const error = { name: "Error", message: "no" };
  const failed = {
    kind: "TaskEnded",
    ...ofSend,
    runId: f,
    startedAt: Date.now(),
    outcome: "failed",
    error,
    retryInMs: 60_000,
  };
  await ofServices(["F", failed]);
  expect(await standing()).toMatchObject([{ status: "Scheduled", interruptions: 4, crashes: 1, story: { lost: [e] } }]);
  await ofServices(["E", release(e)]); // its send is another by now
  expect(await standing()).toMatchObject([{ status: "Scheduled", interruptions: 4, crashes: 0 }]);
});

test("Who lost its connection before it told an end has not crashed, nor has who began the task meanwhile", async () => {
  const [{ id, send, run: a }] = (await running(1)) as [Sent];
  const about = { taskId: id, at: Date.now() };
  const start = (runId: string) => ({ kind: "TaskStarted", ...about, sendId: send, runId });
  const error = { name: "Error", message: "no" };
  const end = (runId: string, of: object) => ({
    ...{ kind: "TaskEnded", ...about, sendId: send, runId, startedAt: Date.now() - 5 },
    ...of,
  });
  const again = { outcome: "failed", error, retryInMs: 60_000 };
  const standing = () => query("SELECT status, failures, crashes FROM tasks");
  await query("UPDATE tasks SET service_id = gen_random_uuid()");
  const b = randomUUID();
  await ofServices(["B", start(b)]);
  await ofServices(["A", end(a, again)]); // it was told when A was connected again
  expect(await query("SELECT status, failures, crashes, story FROM tasks")).toMatchObject([
    { status: "Scheduled", failures: 1, crashes: 1, story: { lost: [b] } },
  ]);
  await ofServices(["B", end(b, { outcome: "cancelled" })]); // it was told to stop
  expect(await standing()).toEqual([{ status: "Scheduled", failures: 1, crashes: 0 }]);
  // The same where the other completes before it hears of that.
  await query("UPDATE tasks SET status = 'Running', send_id = $1, run_id = $2, service_id = gen_random_uuid()", [send, a]);
  await ofServices(["B", start(b)]);
  await ofServices(["A", end(a, again)]);
  await ofServices(["B", end(b, { outcome: "completed" })]);
  expect(await standing()).toEqual([{ status: "Scheduled", failures: 2, crashes: 0 }]);
});

test("What two services let go of within one batch has no crash against it, and nobody has it", async () => {
  const [{ id, send, run: a }, other] = (await running(2)) as [Sent, Sent];
  await query("UPDATE tasks SET service_id = gen_random_uuid()");
  const events = (of: { id: string; send: string }) => {
    const about = { taskId: of.id, sendId: of.send, at: Date.now() };
    return {
      start: (runId: string) => ({ kind: "TaskStarted", ...about, runId }),
      release: (runId: string) => ({ kind: "TaskReleased", ...about, runId }),
    };
  };
  const [b, c] = [randomUUID(), randomUUID()];
  const [one, two] = [events({ id, send }), events(other)];
  await ofServices(["A", one.release(a)], ["B", one.start(b)], ["B", one.release(b)], ["C", one.start(c)]);
  await ofServices(["A", two.release(other.run)], ["B", two.start(b)], ["B", two.release(b)]);
  const standing = (task: string) => query("SELECT status, interruptions, crashes FROM tasks WHERE id = $1", [task]);
  expect(await standing(id)).toEqual([{ status: "Running", interruptions: 0, crashes: 0 }]);
  expect(await standing(other.id)).toEqual([{ status: "Sent", interruptions: 0, crashes: 0 }]);
});

test("A bundle that comes back of a service that lost its connection has no crash against its tasks", async () => {
  const both = (await running(2)) as [Sent, Sent];
  await query("UPDATE tasks SET service_id = gen_random_uuid()");
  const back = ({ id, send }: Sent) => ({
    ...{ kind: "TaskReturned", taskId: id, sendId: send, at: Date.now(), isRedelivered: true },
  });
  const release = ({ id, send, run }: Sent) => ({
    kind: "TaskReleased",
    taskId: id,
    sendId: send,
    runId: run,
    at: Date.now(),
  });
  const [later, together] = both;
  await ofServices(["B", back(later)], ["B", back(together)], ["A", release(together)]);
  const standing = ({ id }: Sent) => query("SELECT status, interruptions, crashes FROM tasks WHERE id = $1", [id]);
  expect(await standing(later)).toEqual([{ status: "Ready", interruptions: 1, crashes: 1 }]);
  expect(await standing(together)).toEqual([{ status: "Ready", interruptions: 0, crashes: 0 }]);
  await ofServices(["A", release(later)]);
  expect(await standing(later)).toEqual([{ status: "Ready", interruptions: 1, crashes: 0 }]);
});
