import { randomUUID } from "node:crypto";
import { type TaskEnded, TaskEventBatch } from "@unacked/contracts";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { useBooks } from "../support/servers/books.ts";
import { taskLedgerOn } from "../support/tasks/task-ledger.ts";

/* The crash table of docs/decisions/0044-two-versions-of-a-type.md, as far as it is the ledger's. */

const books = useBooks("tasks, ended_tasks, task_services, services, task_figure_deltas");
const query = <Row>(sql: string, parameters: unknown[] = []) => books.dataSource.query<Row[]>(sql, parameters);
beforeAll(() => new PostgresTaskDays(books.dataSource).makeAhead());

const typeWith = (...keys: string[]) => ({
  type: "work",
  paramsSchema: {
    type: "object",
    properties: Object.fromEntries(keys.map((key) => [key, {}])),
    additionalProperties: false,
  },
});

interface Service {
  serviceId: string;
  serviceName: string;
  seq: number;
  type: ReturnType<typeof typeWith>;
}
let older: Service;
let newer: Service;
let over: string[] = [];
const ledger = () => taskLedgerOn(books.dataSource, { committed: (ids) => void (over = [...over, ...ids]) });

const batch = (service: Service, ...events: object[]): TaskEventBatch => {
  const { serviceId, serviceName } = service;
  service.seq += 1;
  return TaskEventBatch.parse({
    ...{ kind: "TaskEventBatch", serviceId, serviceName, pool: "default", generation: 1, seq: service.seq, events },
  });
};
const workers = ({ type }: Service, draining = false) => ({ kind: "TaskWorkers", workers: 2, draining, types: [type] });
const says = (service: Service, ...events: object[]) => ledger().apply([batch(service, ...events)], false);

beforeEach(async () => {
  over = [];
  older = { serviceId: randomUUID(), serviceName: "older", seq: 0, type: typeWith("v") };
  newer = { serviceId: randomUUID(), serviceName: "newer", seq: 0, type: typeWith("v", "width") };
  await says(older, workers(older));
  await says(newer, workers(newer));
});

interface Sent {
  id: string;
  send: string;
  run: string;
}

/** A claim sends it, and a service has begun it. */
async function sent(id: string = randomUUID()): Promise<Sent> {
  const [row] = await query<Sent>(
    `INSERT INTO tasks AS t (id, type, params, pool, priority, due_at, status, send_id, sent_at, run_id, sends)
     VALUES ($1, 'work', '{"width":7}', 'default', 0, now(), 'Running', gen_random_uuid(), now(), gen_random_uuid(), 1)
     ON CONFLICT (id) DO UPDATE SET status = 'Running', send_id = gen_random_uuid(), run_id = gen_random_uuid(), sends = t.sends + 1
     RETURNING id, send_id AS send, run_id AS run`,
    [id],
  );
  return row ?? expect.fail("nothing was sent");
}

const ends = ({ id, send, run }: Sent, end: Partial<TaskEnded>) => ({
  ...{ kind: "TaskEnded", taskId: id, sendId: send, runId: run, at: Date.now(), startedAt: Date.now() - 5, ...end },
});
const refuses = (task: Sent) =>
  ends(task, { outcome: "failed", retryInMs: null, error: { name: "InvalidParams", message: "/width: is not known" } });

/** When it is due; some of the pause has gone. */
const between = (least: number, most: number) => expect.toSatisfy((s: number) => s > least && s <= most);

const rows = () =>
  query<{ status: string; story: object | null; sends: number; seconds: number; message: string; send: string | null }>(
    `SELECT status, failures, interruptions, crashes, sends, story, send_id AS send, last_error->>'message' AS message,
       extract(epoch FROM due_at - now())::float8 AS seconds FROM tasks ORDER BY created_at, id`,
  );
const ended = () =>
  query<{ status: string; story: object | null; message: string }>(
    "SELECT status, failures, story, last_error->>'message' AS message FROM ended_tasks ORDER BY ended_at",
  );

test("A refused task waits for the version that takes its params, and nothing is counted", async () => {
  await says(older, refuses(await sent()));
  expect(await rows()).toMatchObject([
    { status: "Scheduled", failures: 0, interruptions: 0, crashes: 0, sends: 1, send: null, seconds: between(0, 1.5) },
  ]);
  expect((await rows())[0]?.message).toContain('the service "older" does not take these params');
  const figures = await query("SELECT sum(failed)::int AS failed, sum(retried)::int AS retried FROM task_figure_deltas");
  expect(figures).toEqual([{ failed: 0, retried: 0 }]);
  expect(over).toEqual([]);
});

test("What completes then has nothing of that in its story", async () => {
  const first = await sent();
  await says(older, refuses(first));
  await says(older, refuses(await sent(first.id)));
  expect(await rows()).toMatchObject([{ seconds: between(0.5, 3), story: { turnedAway: { turns: 2 } } }]);
  await says(newer, ends(await sent(first.id), { outcome: "completed", output: "7" }));
  expect(await ended()).toMatchObject([{ status: "Completed", failures: 0, story: null }]);
});

test("Refused by each version, it is Failed, and so is what waits when the newer one drains, or dies", async () => {
  const [first, second, third] = [await sent(), await sent(), await sent()];
  await says(older, refuses(first), refuses(second), refuses(third));
  await says(newer, refuses(await sent(first.id)));
  await says(newer, workers(newer, true));
  await says(older, refuses(await sent(second.id)));
  await query("UPDATE task_services SET draining = false, seen_at = now() - interval '1 hour' WHERE name = 'newer'");
  await says(older, refuses(await sent(third.id)));
  expect(await ended()).toMatchObject([
    { status: "Failed", message: expect.stringContaining("; 2 versions of the type have refused these params") },
    { status: "Failed", message: expect.stringContaining("has gone from the pool") },
    { status: "Failed", message: expect.stringContaining("has gone from the pool") },
  ]);
  expect(over).toEqual([first.id, second.id, third.id]);
});

test("With one version it is Failed with what the service said, and no more", async () => {
  await query("DELETE FROM task_services WHERE name = 'newer'");
  await says(older, refuses(await sent()));
  expect(await ended()).toMatchObject([{ status: "Failed", failures: 1, story: null, message: "/width: is not known" }]);
});

test("A service that has died takes nothing; one of which nothing at all was heard since may", async () => {
  const silent = "UPDATE task_services SET seen_at = now() - interval '1 hour' WHERE name = 'newer'";
  await query(silent);
  await query(
    `INSERT INTO services (id, name, pool, state, generation, last_seq, worker_count, last_seen_at)
     SELECT id, name, pool, 'Alive', 1, 1, 2, now() - interval '1 hour' FROM task_services WHERE name = 'newer'`,
  );
  await says(older, refuses(await sent()));
  expect(await rows()).toMatchObject([{ status: "Scheduled" }]);
  await query("UPDATE services SET last_seen_at = now()");
  await says(older, refuses(await sent()));
  expect(await ended()).toMatchObject([{ status: "Failed", message: "/width: is not known" }]);
});

test("Who has just started is known by what it says with its first refusal", async () => {
  const rolled = { serviceId: randomUUID(), serviceName: "rolled-back", seq: 0, type: typeWith("v", "height") };
  await says(rolled, workers(rolled), refuses(await sent()));
  expect((await rows())[0]?.message).toContain('the service "rolled-back"');
});

test("Told twice, or by two managers, it is turned away once", async () => {
  const told = batch(older, refuses(await sent()));
  await Promise.all([ledger().apply([told], false), ledger().apply([told], false)]);
  await ledger().apply([told], true);
  await says(older, ...told.events); // by another number: its send is none any more
  expect(await rows()).toMatchObject([{ status: "Scheduled", story: { turnedAway: { turns: 1 } } }]);
});

test("A cancel, and newer params of its key, come first; in a bundle each goes its own way", async () => {
  const [cancelled, replaced, done, away] = [await sent(), await sent(), await sent(), await sent()];
  await query("UPDATE tasks SET cancel_requested_at = now() WHERE id = $1", [cancelled.id]);
  await query(`UPDATE tasks SET key = 'k', next_params = '{"v":2}' WHERE id = $1`, [replaced.id]);
  const all = [refuses(cancelled), refuses(replaced), ends(done, { outcome: "completed", output: "1" }), refuses(away)];
  await says(older, ...all);
  expect((await ended()).map(({ status }) => status).toSorted()).toEqual(["Cancelled", "Completed"]);
  const left = await query<{ id: string }>("SELECT id, status, params FROM tasks ORDER BY status");
  expect(left).toEqual([
    { id: replaced.id, status: "Ready", params: { v: 2 } },
    { id: away.id, status: "Scheduled", params: { width: 7 } },
  ]);
});

test("A task of a type that its service lacks is sent again 5 s later, as ever", async () => {
  await says(older, ends(await sent(), { outcome: "unknown-type" }));
  expect(await rows()).toMatchObject([{ status: "Scheduled", seconds: between(4, 5), story: null, message: null }]);
});
