import { expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { unavailable } from "../../services/observer-manager/src/adapters/postgres/connection/database-check.ts";
import { describeDatabaseError } from "../../services/observer-manager/src/adapters/postgres/connection/database-error.ts";
import { migrate } from "../../services/observer-manager/src/adapters/postgres/connection/migrate.ts";
import { keptLog } from "../support/servers/books.ts";
import { startPgbouncer } from "../support/servers/pgbouncer.ts";
import { freshDatabase } from "../support/servers/servers.ts";

/** What we ask of a session as it begins, and PgBouncer refuses unless it is told to pass over it. */
const TOLERANT = "ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout";

async function through(...lines: string[]) {
  const { databaseUrl } = await freshDatabase();
  const dataSource = createDataSource({ databaseUrl: await startPgbouncer(databaseUrl, lines), log: keptLog() });
  onTestFinished(async () => (dataSource.isInitialized ? dataSource.destroy() : undefined));
  return dataSource;
}

test("Through a pooler by transaction no manager starts, and it says what to do", async () => {
  const dataSource = await (await through("pool_mode = transaction", TOLERANT)).initialize();
  await expect(migrate(dataSource)).rejects.toThrow("pool_mode = session");
});

test("Through a pooler by session it does", async () => {
  const dataSource = await (await through("pool_mode = session", TOLERANT)).initialize();
  expect(await migrate(dataSource)).not.toEqual([]);
});

test("A pooler that refuses what each session asks for is named by the remedy", async () => {
  const refusal = await (await through()).initialize().catch((error: unknown) => error);
  expect(unavailable(describeDatabaseError(refusal).fields)).toMatchObject({
    detail: expect.stringContaining("unsupported startup parameter"),
    remedy: expect.stringContaining("pooler by session"),
  });
});
