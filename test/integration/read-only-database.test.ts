import { expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { checkDatabase } from "../../services/observer-manager/src/adapters/postgres/connection/database-check.ts";
import { describeDatabaseError } from "../../services/observer-manager/src/adapters/postgres/connection/database-error.ts";
import { transact } from "../../services/observer-manager/src/adapters/postgres/connection/transaction.ts";
import { keptLog } from "../support/servers/books.ts";
import { freshDatabase, runStatement } from "../support/servers/servers.ts";

test("a database that lets nothing be written is told, and written to again as soon as it may be, by a connection that was never idle", async () => {
  const { databaseUrl } = await freshDatabase();
  const database = new URL(databaseUrl).pathname.slice(1);
  await runStatement(databaseUrl, "CREATE TABLE drawer (id int PRIMARY KEY)");
  await runStatement(databaseUrl, `ALTER DATABASE "${database}" SET default_transaction_read_only = on`);
  const dataSource = await createDataSource({ databaseUrl, poolSize: 1, log: keptLog() }).initialize();
  onTestFinished(() => dataSource.destroy());
  const pid = async () => (await dataSource.query<{ pid: number }[]>("SELECT pg_backend_pid() AS pid"))[0]?.pid;
  const put = (id: number) => dataSource.query("INSERT INTO drawer VALUES ($1)", [id]);
  const describe = (error: unknown) => describeDatabaseError(error);

  expect(await checkDatabase(dataSource)).toMatchObject({
    ok: false,
    detail: expect.stringContaining("lets nothing be written"),
    remedy: expect.stringContaining("default_transaction_read_only = off"),
  });
  const told = { unavailable: true, detail: expect.stringContaining("default_transaction_read_only") };
  const before = await pid();
  // In a transaction, too, in which others stand behind what is refused.
  const together = transact(dataSource, async (tx, unawaited) => {
    unawaited.add(tx.query("INSERT INTO drawer VALUES (1)"));
    unawaited.add(tx.query("SELECT 1"));
  });
  expect(await together.catch(describe)).toMatchObject(told);
  expect(await put(1).catch(describe)).toMatchObject(told);
  expect(await pid()).not.toBe(before);

  await runStatement(
    new URL("/postgres", databaseUrl).href,
    `ALTER DATABASE "${database}" RESET default_transaction_read_only`,
  );
  await put(1).catch(() => undefined); // finds the last session that may not
  await put(2);
  expect(await dataSource.query("SELECT id FROM drawer WHERE id = 2")).toEqual([{ id: 2 }]);
  expect(await checkDatabase(dataSource)).toEqual({ ok: true, detail: "answers" });
});
