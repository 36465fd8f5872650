import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { PostgresSilenceStore } from "../../services/observer-manager/src/adapters/postgres/services/silence-store.ts";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { PostgresTaskProofStore } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-proof-store.ts";
import { useBooks } from "../support/servers/books.ts";

/* What was written of tasks before PostgreSQL's clock was set back by an hour: none of it stands still until that hour comes again. */

const books = useBooks("services, commands, task_services, task_proofs, tasks, ended_tasks");
beforeAll(() => new PostgresTaskDays(books.dataSource).makeAhead());

const AHEAD = "now() + interval '1 hour'";
const sql = <Row>(text: string, parameters: unknown[] = []): Promise<Row[]> => books.dataSource.query(text, parameters);
const proofs = () => new PostgresTaskProofStore(books.dataSource);
const queue = () => new PostgresTaskQueueStore(books.dataSource);

/** @param at when it was sent, as SQL @param more columns, likewise */
async function putTask(status: "Sent" | "Running", at: string, more: Record<string, string> = {}): Promise<string> {
  const id = randomUUID();
  const run = status === "Running" ? { run_id: "gen_random_uuid()", started_at: at } : {};
  const columns = { ...run, ...more };
  await sql(
    `INSERT INTO tasks (${["id, type, params, pool, priority, due_at, status, send_id, sends, sent_at", ...Object.keys(columns)].join()})
     VALUES (${["$1, 'paint', '{}', 'default', 0, now(), $2, gen_random_uuid(), 1", at, ...Object.values(columns)].join()})`,
    [id, status],
  );
  return id;
}

/** @param seenAt when it told of tasks, as SQL @param service as the books of services have it; undefined: they do not */
async function putService(seenAt: string, service?: { state: "Alive" | "Gone"; endedAt: string }): Promise<string> {
  const id = randomUUID();
  await sql(
    `INSERT INTO task_services (id, name, pool, generation, workers, draining, types, seen_at)
     VALUES ($1, 's', 'default', 1, 5, false, '[]', ${seenAt})`,
    [id],
  );
  if (service !== undefined)
    await sql(
      `INSERT INTO services (id, name, pool, state, generation, last_seq, worker_count, ended_at)
       VALUES ($1, 's', 'default', $2, 1, 1, 1, ${service.endedAt})`,
      [id, service.state],
    );
  return id;
}

const GONE = { state: "Gone", endedAt: AHEAD } as const;
const ALIVE = { state: "Alive", endedAt: "NULL" } as const;

test("What was sent is sent as of now, so that it is in doubt as soon as what is sent now", async () => {
  const store = proofs();
  await putTask("Sent", AHEAD);
  const lately = await putTask("Sent", "now() - interval '5 seconds'");
  expect(await store.poolsInDoubt()).toEqual([]);
  expect(await sql("SELECT sent_at <= now() AS past FROM tasks")).toEqual([{ past: true }, { past: true }]);
  const [kept] = await sql("SELECT sent_at < now() - interval '4 seconds' AS kept FROM tasks WHERE id = $1", [lately]);
  expect(kept).toEqual({ kept: true });
  await sql("UPDATE tasks SET sent_at = sent_at - interval '16 seconds'");
  expect(await store.poolsInDoubt()).toEqual([{ pool: "default", isUrgent: true }]);
});

test("A proof that began before judges nothing, and is as old as one whose marker is lost", async () => {
  const store = proofs();
  await putTask("Sent", "now() - interval '1 minute'");
  await store.begin({ pool: "default", markerId: randomUUID(), services: [], gone: [] });
  await sql(`UPDATE task_proofs SET begun_at = ${AHEAD}, seen_at = ${AHEAD}, asked_at = ${AHEAD}`);
  const proof = (await store.find("default")) ?? expect.fail("no proof");
  for (const agoMs of [proof.beganAgoMs, proof.seenAgoMs, proof.askedAgoMs]) expect(agoMs).toBeGreaterThan(3_600_000);
  expect(await store.conclude(proof)).toEqual({ ready: 0, cancelled: [] });
  expect(await store.find("default")).toBeUndefined();
});

test("A service that was heard of, or had ended, before is not one that lives, nor one that has ended since a proof began", async () => {
  await putService(AHEAD);
  const ended = await putService(AHEAD, GONE);
  const living = await putService("now()", ALIVE);
  await proofs().begin({ pool: "default", markerId: randomUUID(), services: [], gone: [] });
  const found = await proofs().sessions("default");
  expect(found.map(({ name, isLiving, hasEndedSince }) => [name, isLiving, hasEndedSince])).toEqual(
    [
      [`${ended}.1`, false, false],
      [`${living}.1`, true, false],
    ].toSorted(),
  );
  expect(await queue().servedPools()).toMatchObject([{ pool: "default", workers: 5 }]);
});

test("A service that was last heard of before is probed: it may have died since", async () => {
  const heardOf = async (at: string): Promise<string> => {
    const id = await putService("now()", ALIVE);
    await sql(`UPDATE services SET last_seen_at = ${at} WHERE id = $1`, [id]);
    return id;
  };
  await heardOf("now()");
  const before = await heardOf(AHEAD);
  const limits = { probeAfterMs: 7_000, suspectAfterMs: 15_000 };
  expect(await new PostgresSilenceStore(books.dataSource).probeSilent(limits)).toBe(1);
  expect(await sql("SELECT kind, service_id FROM commands")).toEqual([{ kind: "probe", service_id: before }]);
});

test("What was cancelled is told to end again, and is over where its service has ended", async () => {
  const cancelled = { cancel_requested_at: AHEAD, service_generation: "1" };
  const at = "now() - interval '1 minute'";
  const onService = (id: string, more = {}) => putTask("Running", at, { ...cancelled, service_id: `'${id}'`, ...more });
  const running = await onService(await putService("now()", ALIVE), { cancel_ordered_at: AHEAD });
  expect(await proofs().poolsInDoubt()).toEqual([{ pool: "default", isUrgent: true }]);
  const onGone = await onService(await putService(AHEAD, GONE));
  const onUnknown = await onService(await putService(AHEAD));
  const over = (await proofs().endAbandoned(10)).cancelled as string[];
  expect(over.toSorted()).toEqual([onGone, onUnknown].toSorted());
  expect((await queue().outlook()).isCancelDue).toBe(true);
  expect((await queue().takeCancelsDue(10)).map(({ taskId }) => taskId)).toEqual([running]);
  expect(await queue().takeCancelsDue(10)).toEqual([]);
});
