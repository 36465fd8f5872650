import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { booksBlockers } from "../../services/observer-manager/src/adapters/postgres/overview/books-blockers.ts";
import { eventually } from "../support/eventually.ts";
import { useBooks } from "../support/servers/books.ts";

const books = useBooks();

async function connect(name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: books.databaseUrl, application_name: name });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

const LOCK = "SELECT pg_advisory_xact_lock($1)";

test("Of those whom sessions of the books wait for the first of the chain is named, once, and nobody when nobody waits", async () => {
  const [holder, middle, last, bystander] = await Promise.all(["holder", "middle", "last", "bystander"].map(connect));
  for (const client of [holder, middle, last, bystander]) await client?.query("BEGIN");
  await holder?.query(LOCK, [1]);
  await middle?.query(LOCK, [2]);
  await bystander?.query(LOCK, [3]);
  const waits = Promise.all([middle?.query(LOCK, [1]), last?.query(LOCK, [2])]);
  await eventually(async () => {
    expect(await booksBlockers(books.dataSource, 0.2)).toMatchObject([
      { application: "holder", user: "unacked", pid: expect.any(Number), openForS: expect.any(Number), waiting: 1 },
    ]);
  });
  expect(await booksBlockers(books.dataSource, 3_600)).toEqual([]);
  await holder?.query("ROLLBACK");
  await middle?.query("ROLLBACK").then(() => waits);
  expect(await booksBlockers(books.dataSource, 0)).toEqual([]);
});
