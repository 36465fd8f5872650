import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { PostgresRetentionStore } from "../../services/observer-manager/src/adapters/postgres/books/retention-store.ts";
import { RETAINED_KINDS, type RetainedKind } from "../../services/observer-manager/src/operations/books/retention.ts";
import { insert, putObserver, putRunning, putService, useBooks } from "../support/servers/books.ts";

const books = useBooks("observers, runs, checkpoints, services, errors, audit, unknown_runs");
const DAY_MS = 86_400_000;

const query = (sql: string, parameters: unknown[] = []) => books.dataSource.query(sql, parameters);
const place = () => ({ service_id: randomUUID(), message_id: randomUUID(), revision: 1 });

async function putEndedRun(observerId: string, endedAt: Date): Promise<string> {
  const id = randomUUID();
  const run = { id, observer_id: observerId, ...place(), generation: 1, epoch: 1, state: "Ended" };
  await insert(books.dataSource, "runs", { ...run, started_at: endedAt, ended_at: endedAt, end_reason: "stopped" });
  return id;
}

async function putDeletedObserver(at: Date): Promise<string> {
  const id = await putObserver(books.dataSource, { status: "Deleted", modified_at: at });
  const runId = await putEndedRun(id, new Date());
  await query(
    "INSERT INTO checkpoints (run_id, observer_id, fencing_token, is_started, number, value) VALUES ($1, $2, 1, true, 1, 'x')",
    [runId, id],
  );
  return id;
}

const KINDS: Record<
  RetainedKind,
  { table: string; key?: string; put: (at: Date) => Promise<string>; lasting?: () => Promise<string> }
> = {
  runs: {
    table: "runs",
    put: async (at) => putEndedRun(await putObserver(books.dataSource), at),
    lasting: async () => {
      const id = await putRunning(books.dataSource);
      await query("UPDATE runs SET started_at = now() - interval '1 year'");
      return (await query("SELECT id FROM runs WHERE observer_id = $1", [id]))[0].id;
    },
  },
  observers: {
    table: "observers",
    put: putDeletedObserver,
    lasting: () => putObserver(books.dataSource, { status: "Completed", modified_at: new Date(Date.now() - 365 * DAY_MS) }),
  },
  services: {
    table: "services",
    put: (at) => putService(books.dataSource, { state: "Gone", ended_at: at }),
    lasting: () => putService(books.dataSource),
  },
  errors: {
    table: "errors",
    put: async (at) =>
      (
        await query(
          `INSERT INTO errors (reason, detail, error_group, queue, reporter, body, body_bytes, at)
           VALUES ('unreadable', '', 'one', 'q', 'somebody', '', 0, $1) RETURNING id`,
          [at],
        )
      )[0].id,
  },
  audit: {
    table: "audit",
    put: async (at) => {
      const id = randomUUID();
      await query(
        `INSERT INTO audit (id, at, actor, role, authentication, address, request_id, deed, count, targets, details)
         VALUES ($1, $2, 'a', 'admin', 'token', '', 'r', 'observer.create', 1, '[]', '{}')`,
        [id, at],
      );
      return id;
    },
  },
  "unknown runs": {
    table: "unknown_runs",
    key: "run_id",
    put: async (at) => {
      const id = randomUUID();
      const run = { run_id: id, observer_id: randomUUID(), ...place(), service_name: "s", pool: "default", ordered_at: at };
      await insert(books.dataSource, "unknown_runs", run);
      return id;
    },
  },
};

test.each(RETAINED_KINDS)(
  "Of %s what is older than the retention goes, some at a time; what is younger, or not over, stays",
  async (kind) => {
    const { table, key = "id", put, lasting } = KINDS[kind];
    const store = new PostgresRetentionStore(books.dataSource);
    const [old, young] = [new Date(Date.now() - DAY_MS - 60_000), new Date(Date.now() - DAY_MS + 60_000)];
    for (let i = 0; i < 3; i += 1) await put(old);
    const stays = [await put(young), ...(lasting === undefined ? [] : [await lasting()])];
    const removed: number[] = [];
    for (let i = 0; i < 3; i += 1) removed.push(await store.removeOld(kind, DAY_MS, 2));
    expect(removed).toEqual([2, 1, 0]);
    const left = await query(`SELECT ${key} AS id FROM ${table}`);
    expect(left.map(({ id }: { id: string }) => id).toSorted()).toEqual(stays.toSorted());
  },
);

test("With an observer its runs and checkpoints go, and those of no other", async () => {
  await putDeletedObserver(new Date(Date.now() - 2 * DAY_MS));
  const young = await putDeletedObserver(new Date());
  expect(await new PostgresRetentionStore(books.dataSource).removeOld("observers", DAY_MS, 10)).toBe(1);
  for (const table of ["runs", "checkpoints"])
    expect(await query(`SELECT observer_id AS id FROM ${table}`), table).toEqual([{ id: young }]);
});
