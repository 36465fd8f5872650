import { beforeEach, expect, test } from "vitest";
import { PostgresPoolStore } from "../../services/observer-manager/src/adapters/postgres/pools/pool-store.ts";
import { putObserver, putService, useBooks } from "../support/servers/books.ts";

/* Which pools' queues are kept, and which messages of a queue that nobody wants may go with it. */

const books = useBooks("observers, runs, services");
let pools: PostgresPoolStore;
beforeEach(() => {
  pools = new PostgresPoolStore(books.dataSource);
});

test("The pool that an observer leaves is leftover when nobody else is of it, with the message that waits there", async () => {
  await putObserver(books.dataSource, { pool: "new", message_pool: "typo", pending: "update" });
  await putObserver(books.dataSource, { pool: "new", message_pool: "typo", status: "Redistributing", pending: "update" });
  expect(await pools.pools()).toEqual({ wanted: ["new"], leftover: ["typo"] });
  expect(await pools.messagesLeftBehind("typo", 5)).toBe(2);
  expect(await pools.messagesLeftBehind("new", 5)).toBe(0);
});

test("It is kept while another observer waits there, or a service of it lives", async () => {
  for (const old of ["waits", "lives"])
    await putObserver(books.dataSource, { pool: "new", message_pool: old, pending: "update" });
  await putObserver(books.dataSource, { pool: "waits" });
  await putService(books.dataSource, { pool: "lives" });
  expect(await pools.pools()).toEqual({ wanted: ["lives", "new", "waits"], leftover: [] });
});

test("Beside those that were deleted by force, who leave count; who runs, or whose end was told, has left nothing", async () => {
  await putObserver(books.dataSource, { pool: "old", status: "Deleted" });
  await putObserver(books.dataSource, { pool: "new", message_pool: "old", pending: "update" });
  await putObserver(books.dataSource, { pool: "new", message_pool: "old", status: "Processing", pending: "update" });
  expect(await pools.messagesLeftBehind("old", 5)).toBe(2);
});

test("Who completed so long ago that his runs are not kept any more stands for no message of somebody whom restored books do not know", async () => {
  await putObserver(books.dataSource, { pool: "old", status: "Completed", epoch: 1 });
  await putObserver(books.dataSource, { pool: "old", status: "Deleted", epoch: 1 });
  expect(await pools.messagesLeftBehind("old", 5)).toBe(0);
  await putObserver(books.dataSource, { pool: "old", status: "Deleted" });
  expect(await pools.messagesLeftBehind("old", 5)).toBe(1);
});

test("Who was deleted as nobody had him has left his message where it was, however long ago his last run was", async () => {
  await putObserver(books.dataSource, { pool: "old", status: "Deleted", epoch: 1, message_pool: "old" });
  await putObserver(books.dataSource, { pool: "new", status: "Deleted", epoch: 1, message_pool: "old" });
  expect(await pools.messagesLeftBehind("old", 5)).toBe(2);
  expect(await pools.messagesLeftBehind("new", 5)).toBe(0);
});
