import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { adoptRestoredRows } from "../../services/observer-manager/src/adapters/postgres/books/restored-rows.ts";
import { PostgresProofStore } from "../../services/observer-manager/src/adapters/postgres/observers/proof-store.ts";
import { putObserver, putService, useBooks } from "../support/servers/books.ts";

const books = useBooks("observers, services, absence_proofs");
const query = <Row>(sql: string): Promise<Row[]> => books.dataSource.query(sql);
/** As a dump brings it that was made on a server with many more transactions. */
const FROM_ELSEWHERE = "1000000000000";

/** Of those in doubt: how many a proof that begins now may judge. */
async function judged(): Promise<number> {
  const proofs = new PostgresProofStore(books.dataSource);
  await query("DELETE FROM absence_proofs");
  await proofs.begin("default", randomUUID(), "", null);
  return (await proofs.sight("default", 1_000)).doubts.unchanged;
}

test("what a dump has brought from another server can be proven absent, however many rows that are", async () => {
  const changed = { changed_xid: FROM_ELSEWHERE, modified_at: new Date(Date.now() - 60_000) };
  for (let made = 0; made < 3; made += 1) await putObserver(books.dataSource, changed);
  await putService(books.dataSource, { changed_xid: FROM_ELSEWHERE });
  expect(await judged()).toBe(0);
  expect(await adoptRestoredRows(books.dataSource)).toBe(4);
  expect(await judged()).toBe(3);
  expect(await adoptRestoredRows(books.dataSource)).toBe(0);
});

test("books of this server stay as they are, and so does a proof that was begun here", async () => {
  await putObserver(books.dataSource);
  const numbers = () => query("SELECT changed_xid::text AS number FROM observers");
  const [before] = [await numbers(), await judged()];
  expect(await adoptRestoredRows(books.dataSource)).toBe(0);
  expect(await numbers()).toEqual(before);
  expect(await query("SELECT pool FROM absence_proofs")).toEqual([{ pool: "default" }]);
});

test("a proof that was begun on another server is forgotten: to it whatever is changed here is older", async () => {
  await judged();
  await query(`UPDATE absence_proofs SET snapshot = '${FROM_ELSEWHERE}:${FROM_ELSEWHERE}:'`);
  await adoptRestoredRows(books.dataSource);
  expect(await query("SELECT pool FROM absence_proofs")).toEqual([]);
});
