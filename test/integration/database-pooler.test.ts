import { expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { migrate } from "../../services/observer-manager/src/adapters/postgres/connection/migrate.ts";
import { keptLog } from "../support/servers/books.ts";
import { startPgbouncer } from "../support/servers/pgbouncer.ts";
import { freshDatabase } from "../support/servers/servers.ts";

async function through(...lines: string[]) {
  const { databaseUrl } = await freshDatabase();
  const dataSource = createDataSource({ databaseUrl: await startPgbouncer(databaseUrl, lines), log: keptLog() });
  onTestFinished(async () => (dataSource.isInitialized ? dataSource.destroy() : undefined));
  return dataSource;
}

test("Through a pooler by transaction no manager starts, and it says what to do", async () => {
  const dataSource = await (await through("pool_mode = transaction")).initialize();
  await expect(migrate(dataSource)).rejects.toThrow("pool_mode = session");
});

test("Nor where the pooler has no second session to give", async () => {
  const dataSource = await (await through("pool_mode = transaction", "default_pool_size = 1")).initialize();
  await expect(migrate(dataSource)).rejects.toThrow("pool_mode = session");
});

const GUARDS = `
  SELECT current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle`;

test("Through a pooler by session it does, and its statements and transactions have their limits of time", async () => {
  const dataSource = await (await through("pool_mode = session")).initialize();
  expect(await migrate(dataSource)).not.toEqual([]);
  expect(await dataSource.query(GUARDS)).toEqual([{ statement: "10s", idle: "30s" }]);
});
