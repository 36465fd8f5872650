import type { MigrationInterface, QueryRunner } from "typeorm";
import { expect, onTestFinished, test } from "vitest";
import { createDataSource } from "../../services/observer-manager/src/adapters/postgres/connection/data-source.ts";
import { migrate } from "../../services/observer-manager/src/adapters/postgres/connection/migrate.ts";
import { keptLog } from "../support/servers/books.ts";
import { freshDatabase, queryRows, runStatement } from "../support/servers/servers.ts";

const DEFAULTS = [
  "default_transaction_isolation = 'serializable'",
  "DateStyle = 'German, DMY'",
  "extra_float_digits = -10",
  "TimeZone = 'Asia/Kolkata'",
];

test("Whatever the database has as defaults of a session, the manager sees what is committed, reads times and all digits", async () => {
  const { databaseUrl } = await freshDatabase();
  const database = new URL(databaseUrl).pathname.slice(1);
  for (const one of DEFAULTS) await runStatement(databaseUrl, `ALTER DATABASE "${database}" SET ${one}`);
  await runStatement(databaseUrl, "CREATE TABLE drawer (id int PRIMARY KEY, count int); INSERT INTO drawer VALUES (1, 0)");
  const dataSource = await createDataSource({ databaseUrl, log: keptLog() }).initialize();
  onTestFinished(() => dataSource.destroy());

  const [row] = await dataSource.query(
    "SELECT timestamptz '2026-03-02 01:00:00.123456Z' AS at, 1772413200123.25::float8 AS ms",
  );
  expect([row.at.toISOString(), row.ms]).toEqual(["2026-03-02T01:00:00.123Z", 1772413200123.25]);

  // Two add to one row, one after the other.
  const add = () =>
    dataSource.transaction(async (tx) => {
      await tx.query("SELECT pg_sleep(0.1)");
      await tx.query("UPDATE drawer SET count = count + 1");
      await tx.query("SELECT pg_sleep(0.1)");
    });
  await Promise.all([add(), add(), add()]);
  expect(await dataSource.query("SELECT count FROM drawer")).toEqual([{ count: 3 }]);
});

/** PostgreSQL has the last one from 17 on. */
const LIMITS = "SELECT name FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout')";

test("Whatever limits of time the database has as defaults, a migration takes as long as it needs, and as who migrates before it needs", async () => {
  const { databaseUrl } = await freshDatabase();
  const database = new URL(databaseUrl).pathname.slice(1);
  const limits = await queryRows<{ name: string }>(databaseUrl, LIMITS);
  expect(limits.length).toBeGreaterThanOrEqual(2);
  for (const { name } of limits) await runStatement(databaseUrl, `ALTER DATABASE "${database}" SET ${name} = '200ms'`);
  class Long1 implements MigrationInterface {
    name = "Long1790000000003";
    async up(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query("SELECT pg_sleep(0.5)");
    }
    async down(): Promise<void> {}
  }
  const managers = await Promise.all(
    [1, 2].map(async () => {
      const dataSource = createDataSource({ databaseUrl, log: keptLog() });
      dataSource.setOptions({ migrations: [Long1] });
      onTestFinished(() => dataSource.destroy());
      return dataSource.initialize();
    }),
  );
  const applied = await Promise.all(managers.map((manager) => migrate(manager)));
  expect(applied.flat()).toEqual(["Long1790000000003"]);
});
