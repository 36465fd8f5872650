import { randomUUID } from "node:crypto";
import type { RunId, ServiceId } from "@unacked/contracts";
import type { DataSource, EntityManager } from "typeorm";
import { beforeAll, expect, test } from "vitest";
import { readRuns } from "../../services/observer-manager/src/adapters/postgres/books/run-rows.ts";
import { PostgresProofStore } from "../../services/observer-manager/src/adapters/postgres/observers/proof-store.ts";
import { PostgresTaskProofStore } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-proof-store.ts";
import type { TaskProof } from "../../services/observer-manager/src/operations/tasks/upkeep/task-proof-store.ts";
import { useBooks } from "../support/servers/books.ts";
import { putReady } from "../support/system/waiting-tasks.ts";

/*
 * Of ten thousand that move at once a list of ids is held against ten thousand rows. Where PostgreSQL reads the table, it searches the list through for
 * each row: a hundred million steps. Here it knows its tables, and one service runs all, which makes that look cheap to it.
 */

const RUNS = 2_000;
const SERVICE = randomUUID() as ServiceId;

const books = useBooks();

const PUT_RUNS = `
  INSERT INTO runs (id, observer_id, service_id, generation, message_id, revision, epoch, state, started_at, story)
  SELECT gen_random_uuid(), gen_random_uuid(), $1, 1, gen_random_uuid(), 1, 1, 'Current', now(), '[]' FROM generate_series(1, $2::int)`;

beforeAll(async () => {
  await books.dataSource.query(PUT_RUNS, [SERVICE, RUNS]);
  await books.dataSource.query("ANALYZE");
});

/** Nothing is done by what it is asked: it notes how PostgreSQL would do it. */
function planner() {
  const plans: string[] = [];
  const query = async (sql: string, parameters: unknown[]) => {
    const lines = await books.dataSource.query<{ "QUERY PLAN": string }[]>(`EXPLAIN (VERBOSE) ${sql}`, parameters);
    plans.push(lines.map((line) => line["QUERY PLAN"]).join("\n"));
    return [];
  };
  const transaction = async (...parts: unknown[]) => (parts.at(-1) as (tx: unknown) => unknown)({ query });
  return { plans, dataSource: { query, transaction } as unknown as DataSource, tx: { query } as unknown as EntityManager };
}

/** An array of ids that each row is held against one by one. */
const SEARCHED_THROUGH = /Filter: .*\b(id|send_id) = ANY \(/;

const ids = async (): Promise<RunId[]> =>
  (await books.dataSource.query<{ id: RunId }[]>("SELECT id FROM runs")).map(({ id }) => id);

test("runs that are named, and those of a service that has died, are found by their indexes, each once", async () => {
  const { plans, tx } = planner();
  const named = await ids();
  await readRuns(tx, named, []);
  await readRuns(tx, named, [SERVICE]);
  for (const plan of plans) expect(plan).not.toMatch(SEARCHED_THROUGH);
  expect(plans).toHaveLength(3);
  expect(plans[0]).toContain("runs_pkey");

  const real = books.dataSource.manager;
  const idsOf = async (named: RunId[], services: ServiceId[]) =>
    (await readRuns(real, named, services)).map(({ id }) => id).toSorted();
  const all = named.toSorted();
  expect(await idsOf(named, [])).toEqual(all);
  expect(await idsOf(named.slice(0, 10), [SERVICE])).toEqual(all);
  expect(await idsOf(named.slice(0, 10), [randomUUID() as ServiceId])).toEqual(named.slice(0, 10).toSorted());
  expect(await idsOf([], [])).toEqual([]);
});

test("what a proof of absence does not judge is found by a hash", async () => {
  const { plans, dataSource } = planner();
  const proofs = new PostgresProofStore(dataSource);
  await proofs.sight("default", 1_000);
  await proofs.absent("default", randomUUID(), "unchanged", { forMs: 1_000, limit: 100 });
  const judging = plans.filter((plan) => plan.includes("pg_visible_in_snapshot"));
  expect(judging).toHaveLength(2);
  for (const plan of judging) expect(plan).toContain("hashed SubPlan");
});

const PUT_LOST = `
  INSERT INTO observers (id, name, type, params, labels, pool, retry, status, modified_at)
  SELECT gen_random_uuid(), 'lost-' || i, 'wait', '{}', '{}', 'default', '{}', 'Redistributing', now() - interval '1 minute'
  FROM generate_series(1, 3) i RETURNING id`;

test("who is not judged by a proof of absence is in doubt, and never absent", async () => {
  const [given, ...lost] = await books.dataSource.query<{ id: string }[]>(PUT_LOST);
  const marker = randomUUID();
  await books.dataSource.query(
    "INSERT INTO absence_proofs (pool, marker_id, services, not_judged) VALUES ('default', $1, '', $2), ('another', $3, '', $4)",
    [marker, [given?.id], randomUUID(), lost.map(({ id }) => id)],
  );
  const proofs = new PostgresProofStore(books.dataSource);
  expect((await proofs.sight("default", 1_000)).doubts).toMatchObject({ count: 3, unchanged: 2 });
  const absent = await proofs.absent("default", marker, "unchanged", { forMs: 1_000, limit: 100 });
  expect(absent.map(({ id }) => id).toSorted()).toEqual(lost.map(({ id }) => id).toSorted());
});

test("the tasks that services have said to hold are found by a hash", async () => {
  const { plans, dataSource } = planner();
  const proofs = new PostgresTaskProofStore(dataSource);
  await proofs.conclude({ pool: "default", markerId: randomUUID() } as TaskProof);
  expect(plans).toHaveLength(1);
  expect(plans[0]).toContain("hashed SubPlan");
});

const PUT_RUNNING = `
  UPDATE tasks SET status = 'Running', send_id = gen_random_uuid(), run_id = gen_random_uuid(), service_id = gen_random_uuid(),
    service_generation = 1, sent_at = now() - interval '1 hour' RETURNING id, send_id AS send`;

test("a task that a service has said to hold runs on; the others are sent again", async () => {
  await putReady(books.dataSource, 3);
  const [[held, ...lost]] = await books.dataSource.query<[{ id: string; send: string }[], number]>(PUT_RUNNING);
  const markerId = randomUUID();
  await books.dataSource.query(
    "INSERT INTO task_proofs (pool, marker_id, services, answered, held) VALUES ('default', $1, '{}', '{}', $2)",
    [markerId, [held?.send]],
  );
  const proofs = new PostgresTaskProofStore(books.dataSource);
  expect(await proofs.conclude({ pool: "default", markerId } as TaskProof)).toEqual({ ready: 2, cancelled: [] });
  const ready = await books.dataSource.query<{ id: string }[]>("SELECT id FROM tasks WHERE status = 'Ready'");
  expect(ready.map(({ id }) => id).toSorted()).toEqual(lost.map(({ id }) => id).toSorted());
});
