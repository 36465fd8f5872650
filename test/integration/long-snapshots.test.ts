import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { longSnapshots } from "../../services/observer-manager/src/adapters/postgres/overview/long-snapshots.ts";
import { eventually } from "../support/eventually.ts";
import { useBooks } from "../support/servers/books.ts";

const books = useBooks();

async function connect(name: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: books.databaseUrl, application_name: name });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

test("Who has a snapshot open, or has written, is named, and who keeps nothing from being cleaned up is not", async () => {
  const [dump, report, writer, idle] = await Promise.all(["dump", "report", "writer", "idle"].map(connect));
  await dump?.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  await dump?.query("SELECT count(*) FROM tasks");
  await writer?.query("BEGIN");
  await writer?.query("SELECT pg_current_xact_id()"); // as its first write would
  await idle?.query("BEGIN");
  await idle?.query("SELECT count(*) FROM tasks");
  await report?.query("SELECT count(*) FROM tasks");
  await eventually(async () => {
    const found = await longSnapshots(books.dataSource, 0.2);
    expect(found).toMatchObject([
      { application: "dump", user: "unacked", pid: expect.any(Number), openForS: expect.any(Number) },
      { application: "writer" },
    ]);
  });
  expect(await longSnapshots(books.dataSource)).toEqual([]);
  await dump?.query("ROLLBACK");
  await writer?.query("ROLLBACK");
  expect((await longSnapshots(books.dataSource, 0)).filter(({ application }) => application !== "unacked-manager")).toEqual(
    [],
  );
});
