import { randomUUID } from "node:crypto";
import { type EventBatch, type ObserverTypeInfo, type ServiceId, TaskEventBatch } from "@unacked/contracts";
import { beforeEach, expect, test } from "vitest";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { ANNOUNCED } from "../../services/observer-manager/src/adapters/postgres/tasks/task-services.ts";
import { PostgresTypeDirectory } from "../../services/observer-manager/src/adapters/postgres/types/type-reads.ts";
import { Ledger } from "../../services/observer-manager/src/operations/books/ledger.ts";
import { insert, putService, useBooks } from "../support/servers/books.ts";
import { whereItLies } from "../support/servers/long-values.ts";
import { taskLedgerOn } from "../support/tasks/task-ledger.ts";

/* With their schemas types are long: 100 kB of thirty, and each service of a fleet announces them. */

const books = useBooks("services, task_services");
const query = <Row>(sql: string, parameters: unknown[] = []) => books.dataSource.query<Row[]>(sql, parameters);
let directory: PostgresTypeDirectory;
let tasks: PostgresTaskStore;
beforeEach(() => {
  directory = new PostgresTypeDirectory(books.dataSource);
  tasks = new PostgresTaskStore(books.dataSource);
});

/** Long, and not to be shortened by compression. */
const schema = () => ({ description: Array.from({ length: 200 }, () => randomUUID()).join() });
const info = (type: string, more: object = {}): ObserverTypeInfo => ({
  type,
  description: "d",
  paramsSchema: schema(),
  ...more,
});
const putTaskService = (types: object[], means: Record<string, number> = {}) =>
  insert(books.dataSource, "task_services", {
    id: randomUUID(),
    generation: 1,
    name: "s",
    pool: "default",
    workers: 1,
    draining: false,
    types,
    means,
  });
const newLedger = () =>
  new Ledger(new PostgresBooksStore(books.dataSource), "a manager", {
    applied: () => undefined,
    sent: () => undefined,
    putAside: () => undefined,
  });
const batchOf = (id: string, seq: number, events: EventBatch["events"] = []): EventBatch => ({
  kind: "EventBatch",
  serviceId: id as ServiceId,
  serviceName: "s",
  pool: "default",
  workerCount: 5,
  generation: 1,
  seq,
  events,
});

test("Of services that announce the same it is read once, and once more only where somebody announces something else", async () => {
  const same = [info("one"), info("two")];
  for (let i = 0; i < 3; i += 1) await putService(books.dataSource, { types: same });
  const before = await directory.liveTypes("default");
  expect(before).toEqual({
    services: 3,
    types: same,
    withoutAdmission: [expect.any(String), expect.any(String), expect.any(String)],
  });
  const after = await directory.liveTypes("default");
  expect(after.types[0]).toBe(before.types[0]); // what was compiled for it is found by it

  const other = [info("three")];
  await putService(books.dataSource, { types: other });
  const { services, types } = await directory.liveTypes("default");
  expect([services, types.length]).toEqual([4, 3]);
  expect(types).toContain(before.types[0]);
  expect(types).toContainEqual(other[0]);
  await query("DELETE FROM services");
  expect(await directory.liveTypes("default")).toEqual({ services: 0, types: [], withoutAdmission: [] });
});

test("Task types are the same, however long their tasks take", async () => {
  const paramsSchema = schema();
  for (const resize of [1, 2, 3]) await putTaskService([{ type: "resize", description: "", paramsSchema }], { resize });
  const before = await tasks.liveTypes("default");
  expect(before).toMatchObject({ services: 3, types: [{ type: "resize", paramsSchema }], outside: [] });
  await query("UPDATE task_services SET means = '{ \"resize\": 9 }'");
  expect((await tasks.liveTypes("default")).types[0]).toBe(before.types[0]);
});

test("What is short of them stands beside them, whoever wrote them", async () => {
  await putService(books.dataSource, { types: [info("one", { onUpdate: true, checkpointSchema: schema() })] });
  await putTaskService([{ type: "resize", description: "d", paramsSchema: {}, batch: 10 }]);
  await putTaskService([]);
  expect(await query("SELECT type_facts AS facts FROM services")).toEqual([{ facts: [{ type: "one", onUpdate: true }] }]);
  expect(await query("SELECT type_facts AS facts FROM task_services ORDER BY 1 DESC")).toEqual([
    { facts: [{ type: "resize", batch: 10 }] },
    { facts: [] },
  ]);
});

test("Of tasks they are written where they are others, however often a service says them, and how long its tasks take each time", async () => {
  const ledger = taskLedgerOn(books.dataSource);
  const serviceId = randomUUID();
  let seq = 0;
  const tell = (...types: object[]) => {
    const events = [{ kind: "TaskWorkers", workers: 5, draining: false, types }];
    const batch = {
      kind: "TaskEventBatch",
      serviceId,
      serviceName: "s",
      pool: "default",
      generation: 1,
      seq: (seq += 1),
      events,
    };
    return ledger.apply([TaskEventBatch.parse(batch)], false);
  };
  const resize = { type: "resize", description: "", paramsSchema: schema() };
  await tell({ ...resize, meanMs: 5 });
  const before = await whereItLies(books, "task_services");
  await tell({ ...resize, meanMs: 7 });
  expect(await whereItLies(books, "task_services")).toEqual(before);
  expect(await query(ANNOUNCED)).toEqual([{ pool: "default", type: "resize", meanMs: 7, batchSize: null }]);
  await tell({ ...resize, meanMs: 7 }, { type: "paint", description: "", paramsSchema: {} });
  expect(await whereItLies(books, "task_services")).not.toEqual(before);
  expect(await query("SELECT workers, jsonb_array_length(types) AS types, means, last_seq FROM task_services")).toEqual([
    { workers: 5, types: 2, means: { resize: 7 }, last_seq: "3" },
  ]);
});

test("They are written as a service is born, and neither read nor written when it tells of something else", async () => {
  const ledger = newLedger();
  const id = await putService(books.dataSource, { types: [info("one")] });
  const told = (seq: number) => batchOf(id, seq);
  const before = await whereItLies(books, "services");
  await ledger.apply([told(2), { ...told(1), serviceId: randomUUID() as ServiceId }]);
  expect(await query("SELECT last_seq, jsonb_array_length(types) AS types FROM services ORDER BY last_seq DESC")).toEqual([
    { last_seq: "2", types: 1 },
    { last_seq: "1", types: 0 },
  ]);
  expect(await whereItLies(books, "services")).toEqual(before);
});

test("Of a service that has ended what is long of them goes; one that speaks again takes any params until it has said them anew", async () => {
  const ledger = newLedger();
  const types = [info("one", { onUpdate: true, checkpointSchema: schema() }), info("two")];
  const facts = [{ type: "one", onUpdate: true }, { type: "two" }];
  const [stopped, gone] = [await putService(books.dataSource, { types }), await putService(books.dataSource, { types })];
  await ledger.apply([
    batchOf(stopped, 2, [{ kind: "ServiceDied", reason: "asked", at: 1_000 }]),
    { kind: "DeathCertificate", serviceId: gone as ServiceId, generation: 1 },
  ]);
  expect(await query("SELECT type_facts AS facts, length(types::text) < 200 AS short FROM services")).toEqual([
    { facts, short: true },
    { facts, short: true },
  ]);
  await ledger.apply([batchOf(gone, 2)]);
  const spoken = facts.map((one) => ({ ...one, paramsSchema: {} }));
  expect(await directory.liveTypes("default")).toMatchObject({ services: 1, types: spoken });
});
