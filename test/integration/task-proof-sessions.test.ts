import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { PostgresTaskProofStore } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-proof-store.ts";
import { useBooks } from "../support/servers/books.ts";

/* Who has to answer in a proof that tasks are nowhere, by what the books have of services, and services tell of tasks. */

const books = useBooks("services, task_services, task_proofs, tasks, ended_tasks");
let proofs: PostgresTaskProofStore;
beforeAll(() => new PostgresTaskDays(books.dataSource).makeAhead());
beforeEach(() => {
  proofs = new PostgresTaskProofStore(books.dataSource);
});

const sql = (text: string, parameters: unknown[] = []): Promise<unknown[]> => books.dataSource.query(text, parameters);

interface InTheBooks {
  state: "Alive" | "Suspect" | "Stopped" | "Gone";
  generation: number;
  /** Undefined: it lives. */
  endedAgoS?: number;
}
interface Told {
  generation: number;
  workers?: number;
  draining?: boolean;
  agoS?: number;
}

async function put(id: string, service: InTheBooks | undefined, told: Told): Promise<void> {
  if (service !== undefined)
    await sql(
      `INSERT INTO services (id, name, pool, state, generation, last_seq, worker_count, ended_at)
       VALUES ($1, 's', 'default', $2, $3, 1, 1, now() - $4 * interval '1 second')`,
      [id, service.state, service.generation, service.endedAgoS ?? null],
    );
  await sql(
    `INSERT INTO task_services (id, name, pool, generation, workers, draining, types, seen_at)
     VALUES ($1, 's', 'default', $2, $3, $4, '[]', now() - $5 * interval '1 second')`,
    [id, told.generation, told.workers ?? 5, told.draining ?? false, told.agoS ?? 1],
  );
}

const LIVES = { isLiving: true, isConsuming: true, hasEndedSince: false };

test.each<[string, InTheBooks | undefined, Told, (Record<string, unknown> & { generation: number }) | undefined]>([
  ["lives", { state: "Alive", generation: 2 }, { generation: 2 }, { generation: 2, ...LIVES }],
  ["is silent", { state: "Suspect", generation: 2 }, { generation: 2, agoS: 60 }, { generation: 2, ...LIVES }],
  [
    "drains",
    { state: "Alive", generation: 2 },
    { generation: 2, draining: true },
    { generation: 2, ...LIVES, isConsuming: false },
  ],
  [
    "has lost its types, and may have tasks still",
    { state: "Alive", generation: 2 },
    { generation: 2, workers: 0 },
    { generation: 2, ...LIVES, isConsuming: false },
  ],
  ["has lost its types, and its session since", { state: "Alive", generation: 3 }, { generation: 2, workers: 0 }, undefined],
  [
    "has begun anew, and told nothing of tasks",
    { state: "Alive", generation: 3 },
    { generation: 2 },
    { generation: 3, ...LIVES },
  ],
  ["is not in the books yet", undefined, { generation: 1 }, { generation: 1, ...LIVES }],
  [
    "is in the books by the session before",
    { state: "Gone", generation: 2, endedAgoS: 600 },
    { generation: 3 },
    { generation: 3, ...LIVES },
  ],
  ["is in no book any more", undefined, { generation: 1, agoS: 86_400 }, undefined],
  ["ended long ago", { state: "Gone", generation: 2, endedAgoS: 91 }, { generation: 2, agoS: 100 }, undefined],
  [
    "ended within the time for which a broker may keep what it held",
    { state: "Gone", generation: 2, endedAgoS: 80 },
    { generation: 2, agoS: 90 },
    { generation: 2, isLiving: false, isConsuming: true, hasEndedSince: false },
  ],
])("of a service that %s", async (_which, service, told, expected) => {
  const id = randomUUID();
  await put(id, service, told);
  const { generation, ...rest } = expected ?? { generation: 0 };
  expect(await proofs.sessions("default")).toEqual(expected === undefined ? [] : [{ name: `${id}.${generation}`, ...rest }]);
  expect(await proofs.sessions("another")).toEqual([]);
});

test("who has ended since a proof began is told apart from who had before", async () => {
  const [before, since] = [randomUUID(), randomUUID()];
  await put(before, { state: "Stopped", generation: 1, endedAgoS: 30 }, { generation: 1 });
  await put(since, { state: "Gone", generation: 1, endedAgoS: 5 }, { generation: 1 });
  await proofs.begin({ pool: "default", markerId: randomUUID(), services: [], gone: [] });
  await sql("UPDATE task_proofs SET begun_at = now() - interval '10 seconds'");
  const found = await proofs.sessions("default");
  expect(found.map(({ name, isLiving, hasEndedSince }) => [name, isLiving, hasEndedSince])).toEqual(
    [
      [`${before}.1`, false, false],
      [`${since}.1`, false, true],
    ].toSorted(),
  );
});

/** @returns its send */
async function putTask(status: string, serviceId: string | null, sentAgoS = 60): Promise<string> {
  const sendId = randomUUID();
  await sql(
    `INSERT INTO tasks (id, type, params, pool, priority, due_at, status, send_id, sent_at, started_at, run_id, service_id, service_generation, sends)
     VALUES ($1, 'paint', '{}', 'default', 0, now(), $2, $4, now() - $5 * interval '1 second',
       CASE WHEN $2 = 'Running' THEN now() END, CASE WHEN $2 = 'Running' THEN gen_random_uuid() END, $3, CASE WHEN $3::uuid IS NULL THEN NULL ELSE 4 END, 1)`,
    [randomUUID(), status, serviceId, sendId, sentAgoS],
  );
  return sendId;
}

const NOTHING = { ready: 0, cancelled: [] };

/** Begins a proof. @returns concludes it */
async function prove(services: string[] = []): Promise<() => ReturnType<PostgresTaskProofStore["conclude"]>> {
  await proofs.begin({ pool: "default", markerId: randomUUID(), services, gone: [] });
  return async () => proofs.conclude((await proofs.find("default")) ?? expect.fail("no proof"));
}

test.each([
  ["5 s before its proof may be behind its marker, and is not judged", 5, 0],
  ["13 s before its proof and is in no answer is sent again", 13, 1],
])("what was sent %s", async (_which, agoS, ready) => {
  await putTask("Sent", null, agoS);
  await putTask("Running", randomUUID(), agoS);
  const conclude = await prove();
  expect(await conclude()).toEqual({ ready: 2 * ready, cancelled: [] });
});

test("nothing is judged before each that has to answer has answered, nor what one has named", async () => {
  const [one, other] = [`${randomUUID()}.1`, `${randomUUID()}.1`];
  const named = await putTask("Sent", null);
  await putTask("Sent", null);
  const conclude = await prove([one, other]);
  expect(await conclude()).toEqual(NOTHING);
  await sql("UPDATE task_proofs SET answered = $1, held = $2", [[one], [named]]);
  expect(await conclude()).toEqual(NOTHING);
  await sql("UPDATE task_proofs SET answered = $1", [[other, one]]);
  expect(await conclude()).toEqual({ ready: 1, cancelled: [] });
  expect(await sql("SELECT send_id AS id FROM tasks WHERE status = 'Sent'")).toEqual([{ id: named }]);
  expect(await proofs.find("default")).toBeUndefined();
});

test("what runs on a service that the broker cannot reach is not judged, and what was sent there is", async () => {
  const [gone, other] = [randomUUID(), randomUUID()];
  await putTask("Running", gone);
  await putTask("Running", other);
  await putTask("Sent", null);
  const markerId = randomUUID();
  await proofs.begin({ pool: "default", markerId, services: [`${gone}.4`], gone: [`${gone}.4`] });
  await proofs.asked(markerId, []);
  const proof = await proofs.find("default");
  expect(proof).toMatchObject({ services: [`${gone}.4`], answered: [`${gone}.4`], seenAgoMs: null });
  expect(await proofs.conclude(proof ?? expect.fail("no proof"))).toEqual({ ready: 2, cancelled: [] });
  const left = await sql("SELECT service_id AS id FROM tasks WHERE status = 'Running'");
  expect(left).toEqual([{ id: gone }]);
});

const CANCELLED_AGO = "now() - interval '2 minutes'";

/** What somebody has cancelled, and what runs there as far as the books know. */
async function putCancelled(serviceId: string, { generation = 4, next = null as string | null } = {}): Promise<string> {
  const id = randomUUID();
  await sql(
    `INSERT INTO tasks (id, type, params, next_params, pool, priority, due_at, status, send_id, sent_at, started_at, run_id, service_id, service_generation, sends, cancel_requested_at)
     VALUES ($1, 'paint', '1', $4::jsonb, 'default', 0, now(), 'Running', gen_random_uuid(), now() - interval '5 minutes', now(), gen_random_uuid(), $2, $3, 1, ${CANCELLED_AGO})`,
    [id, serviceId, generation, next],
  );
  return id;
}

test.each<[string, InTheBooks | undefined, Told, "over" | "left"]>([
  [
    "has ended for longer than a broker keeps what it held",
    { state: "Gone", generation: 4, endedAgoS: 91 },
    { generation: 4 },
    "over",
  ],
  ["is in no book any more", undefined, { generation: 4, agoS: 86_400 }, "over"],
  ["ended just now", { state: "Gone", generation: 4, endedAgoS: 60 }, { generation: 4 }, "left"],
  ["lives", { state: "Alive", generation: 4 }, { generation: 4 }, "left"],
  ["is silent", { state: "Suspect", generation: 4 }, { generation: 4 }, "left"],
  ["is in the books by the session before", { state: "Gone", generation: 3, endedAgoS: 600 }, { generation: 4 }, "left"],
  ["is not in the books yet", undefined, { generation: 4 }, "left"],
])("What was cancelled on a service that %s", async (_which, service, told, expected) => {
  const serviceId = randomUUID();
  await put(serviceId, service, told);
  const id = await putCancelled(serviceId);
  expect(await proofs.endAbandoned(10)).toEqual({ ready: 0, cancelled: expected === "over" ? [id] : [] });
  const [ended] = await sql("SELECT status FROM ended_tasks WHERE id = $1", [id]);
  expect(ended).toEqual(expected === "over" ? { status: "Cancelled" } : undefined);
});

test("What was cancelled on a service that is gone, and asked for again since, is Ready with what came last", async () => {
  const serviceId = randomUUID();
  await put(serviceId, { state: "Stopped", generation: 4, endedAgoS: 600 }, { generation: 4 });
  const id = await putCancelled(serviceId, { next: "2" });
  expect(await proofs.endAbandoned(10)).toEqual({ ready: 1, cancelled: [] });
  expect(await sql("SELECT status, params, next_params, cancel_requested_at FROM tasks WHERE id = $1", [id])).toEqual([
    { status: "Ready", params: 2, next_params: null, cancel_requested_at: null },
  ]);
});
