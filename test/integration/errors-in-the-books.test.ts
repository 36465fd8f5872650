import { randomUUID } from "node:crypto";
import type { EventBatch, ObserverId, ServiceId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { PostgresBooksStore } from "../../services/observer-manager/src/adapters/postgres/books/postgres-books-store.ts";
import {
  findError,
  listErrors,
  recordErrors,
} from "../../services/observer-manager/src/adapters/postgres/errors/error-rows.ts";
import { errorGroupOf } from "../../services/observer-manager/src/domain/errors/error-group.ts";
import { Ledger } from "../../services/observer-manager/src/operations/books/ledger.ts";
import { runOf } from "../support/messages/told-run.ts";
import { putObserver, useBooks } from "../support/servers/books.ts";
import { whereItLies } from "../support/servers/long-values.ts";

/* With its stack an error is long, and stays with its observer for as long as that lives. */

const books = useBooks("observers, runs, services, commands, errors");
const LONG_AGO = new Date(1_000);
/** Long, and not to be shortened by compression. */
const stack = () => Array.from({ length: 200 }, () => randomUUID()).join("\n");

/** A service's batches, one after the other. */
function newTelling(): (...events: EventBatch["events"]) => Promise<unknown> {
  const nobody = { applied: () => undefined, sent: () => undefined, putAside: () => undefined };
  const ledger = new Ledger(new PostgresBooksStore(books.dataSource), "a manager", nobody);
  const serviceId = randomUUID() as ServiceId;
  let seq = 0;
  return (...events) => {
    seq += 1;
    const service = { serviceId, serviceName: "s", pool: "default", workerCount: 5, generation: 1 };
    return ledger.apply([{ kind: "EventBatch", ...service, seq, events }]);
  };
}

async function errorOf(id: string): Promise<Record<string, unknown>> {
  const [row] = await books.dataSource.query<Record<string, unknown>[]>(
    "SELECT status, attempts, last_error, error_group, last_error_at FROM observers WHERE id = $1",
    [id],
  );
  return row ?? {};
}

test("An error has the name of the observer that it is about, while that is kept", async () => {
  const observerId = (await putObserver(books.dataSource, { name: "shop" })) as ObserverId;
  const error = {
    messageId: randomUUID(),
    reason: "unreadable" as const,
    detail: "x",
    queue: "q",
    reporter: "r",
    body: "",
    bodyBytes: 0,
  };
  await recordErrors(books.dataSource, [
    { ...error, observerId },
    { ...error, messageId: randomUUID(), observerId: randomUUID() as ObserverId },
  ]);
  const { items } = await listErrors(books.dataSource, { limit: 2 });
  expect(items.map(({ observerName }) => observerName).sort()).toEqual(["shop", null].sort());
  for (const { id, observerName } of items) expect(await findError(books.dataSource, id)).toMatchObject({ observerName });
});

test("An observer's last error is written when one is told, and neither read nor written by what is told of it later", async () => {
  const before = { name: "Error", message: "the first", stack: stack() };
  const id = await putObserver(books.dataSource, { status: "Redistributing", last_error: before, last_error_at: LONG_AGO });
  const lies = await whereItLies(books, "observers");
  const tell = newTelling();
  const run = runOf(id);
  await tell({ kind: "RunStarted", ...run, attempt: 0 });
  const kept = { last_error: before, error_group: "Error: the first", last_error_at: LONG_AGO };
  expect(await errorOf(id)).toEqual({ status: "Processing", attempts: 0, ...kept });
  expect(await whereItLies(books, "observers")).toEqual(lies);

  const after = { name: "Error", message: "the 2nd", stack: stack() };
  await tell({ kind: "RunRetrying", ...run, attempt: 1, error: after, delayMs: 50 });
  const told = { last_error: after, error_group: errorGroupOf("Error: the 2nd"), last_error_at: expect.any(Date) };
  expect(await errorOf(id)).toEqual({ status: "Retrying", attempts: 1, ...told });
  expect((await errorOf(id))["last_error_at"]).not.toEqual(LONG_AGO);
});

test("Attempts that are told by their number alone have failed, too: the error's time is that of the last", async () => {
  const last_error = { name: "Error", message: "the first" };
  const id = await putObserver(books.dataSource, { status: "Redistributing", last_error, last_error_at: LONG_AGO });
  await newTelling()({ kind: "RunStarted", ...runOf(id), attempt: 3 });
  const { last_error_at, ...rest } = await errorOf(id);
  expect(rest).toEqual({ status: "Processing", attempts: 3, last_error, error_group: "Error: the first" });
  expect(last_error_at).not.toEqual(LONG_AGO);
});

test("Of what was wrong so much is kept as is told, in whole characters, however much somebody says", async () => {
  const error = { reason: "unreadable", queue: "q", messageId: null, reporter: "m", body: "", bodyBytes: 0 } as const;
  const detail = `${"x".repeat(16_383)}\u{1F600}${"y".repeat(1_000_000)}\0`;
  await recordErrors(books.dataSource.manager, [{ ...error, detail }]);
  const [row] = await books.dataSource.query<{ detail: string }[]>("SELECT detail FROM errors");
  expect(row?.detail).toBe(`${"x".repeat(16_383)}\uFFFD`);
});

test("Of what an older manager wrote whole so much is read, in a list and alone; an observer that nobody knew is shown alone with its whole start", async () => {
  const [row] = await books.dataSource.query<{ id: string }[]>(
    `INSERT INTO errors (reason, detail, error_group, queue, reporter, body, body_bytes)
     VALUES ('unknown-observer', repeat('x', 1000000), 'x', 'q', 'm', repeat('y', 20000), 20000) RETURNING id`,
  );
  const { items } = await listErrors(books.dataSource, { limit: 10 });
  const alone = await findError(books.dataSource, row?.id ?? "");
  expect([...items, alone].map((error) => [error?.detail.length, error?.body.length])).toEqual([
    [16_384, 16_384],
    [16_384, 20_000],
  ]);
  expect({ ...alone, body: "" }).toEqual({ ...items[0], body: "" });
  expect(await findError(books.dataSource, "0")).toBeUndefined();
});

test("What stands there of a type that no service knew is forgotten by its run", async () => {
  const id = await putObserver(books.dataSource);
  const tell = newTelling();
  const { messageId, revision, at } = runOf(id);
  await tell({ kind: "StartRefused", observerId: id as ObserverId, messageId, revision, at, reason: "unknown-type" });
  expect(await errorOf(id)).toMatchObject({ status: "Created", last_error: { name: "UnknownType" } });
  await tell({ kind: "RunStarted", ...runOf(id), revision: 2, attempt: 1 });
  const none = { last_error: null, error_group: null, last_error_at: null };
  expect(await errorOf(id)).toEqual({ status: "Processing", attempts: 1, ...none });
});
