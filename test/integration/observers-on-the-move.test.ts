import { randomUUID } from "node:crypto";
import type { ObserverId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { PostgresBalanceStore } from "../../services/observer-manager/src/adapters/postgres/balance/postgres-balance-store.ts";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { eventually } from "../support/eventually.ts";
import { insert, putRunning, putService, SOMEBODY, useBooks } from "../support/servers/books.ts";

/* What is asked of an observer while its ledger writes where it runs now. */

const books = useBooks("observers, runs, services, commands");
const sql = <Row extends object>(text: string, parameters: unknown[] = []): Promise<Row[]> =>
  books.dataSource.query(text, parameters);

type Write = (text: string, parameters: unknown[]) => Promise<unknown>;

/** The answer to what is asked while the ledger has this observer, and commits what it `writes` only then. */
async function askedMeanwhile<T>(id: string, writes: (write: Write) => Promise<unknown>, ask: () => Promise<T>): Promise<T> {
  const ledger = books.dataSource.createQueryRunner();
  await ledger.startTransaction();
  try {
    await ledger.query("SELECT FROM observers WHERE id = $1 FOR UPDATE", [id]);
    await writes((text, parameters) => ledger.query(text, parameters));
    const [{ pid }] = (await ledger.query("SELECT pg_backend_pid() AS pid")) as [{ pid: number }];
    const answer = ask();
    await eventually(async () => {
      const waiting = await sql("SELECT FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))", [pid]);
      expect(waiting).toHaveLength(1);
    });
    await ledger.commitTransaction();
    return await answer;
  } finally {
    if (ledger.isTransactionActive) await ledger.rollbackTransaction();
    await ledger.release();
  }
}

/** It runs on another service. */
const runsOn =
  (id: string, run: string, serviceId: string) =>
  async (query: Write): Promise<void> => {
    const row = {
      id: run,
      observer_id: id,
      service_id: serviceId,
      generation: 1,
      message_id: randomUUID(),
      revision: 1,
      epoch: 2,
    };
    await insert({ query }, "runs", { ...row, state: "Current", started_at: new Date() });
    await query("UPDATE observers SET current_run_id = $2, current_service_id = $3, epoch = 2 WHERE id = $1", [
      id,
      run,
      serviceId,
    ]);
  };

const moving = () => newAction("observer.move", SOMEBODY);
const orders = () => sql("SELECT run_id, service_id, generation FROM commands WHERE kind = 'move-run'");

test("An observer that has just got another run is moved from where it runs now", async () => {
  const [one, other] = [await putService(books.dataSource), await putService(books.dataSource)];
  const id = await putRunning(books.dataSource, { current_service_id: one });
  const run = randomUUID();
  const store = new PostgresBalanceStore(books.dataSource);
  const judged: unknown[] = [];
  const answer = await askedMeanwhile(id, runsOn(id, run, other), () =>
    store.moveOne({ kind: "id", id: id as ObserverId }, moving(), ({ service }) => void judged.push(service?.id)),
  );
  expect(answer.kind).toBe("accepted");
  expect(judged).toEqual([other]);
  expect(await orders()).toEqual([{ run_id: run, service_id: other, generation: 1 }]);
});

test("The order to move goes to the generation that has the run now", async () => {
  const service = await putService(books.dataSource);
  const id = await putRunning(books.dataSource, { current_service_id: service });
  const store = new PostgresBalanceStore(books.dataSource);
  const nextGeneration = async (write: Write): Promise<void> => {
    await write("UPDATE runs SET generation = 2 WHERE observer_id = $1", [id]);
    await write("UPDATE observers SET modified_at = now() WHERE id = $1", [id]);
  };
  const answer = await askedMeanwhile(id, nextGeneration, () =>
    store.moveOne({ kind: "id", id: id as ObserverId }, moving(), () => undefined),
  );
  expect(answer.kind).toBe("accepted");
  expect(await orders()).toMatchObject([{ service_id: service, generation: 2 }]);
});

test("An observer that has just come to another boot of the same name is among those of that name", async () => {
  const name = "a-name";
  const gone = await putService(books.dataSource, { name, state: "Gone", ended_at: new Date() });
  const alive = await putService(books.dataSource, { name });
  const id = await putRunning(books.dataSource, { current_service_id: gone });
  const ids = [id as ObserverId];
  const matching = (service: string) =>
    new PostgresBooksStore(books.dataSource).inTransaction(async (tx) => [
      ...(await tx.loadMatching(ids, { service })).observers.keys(),
    ]);
  expect(await askedMeanwhile(id, runsOn(id, randomUUID(), alive), () => matching(name))).toEqual(ids);
  expect(await matching("another-name")).toEqual([]);
});
