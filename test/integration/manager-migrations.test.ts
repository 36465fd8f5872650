import { expect, onTestFinished, test } from "vitest";
import { createDataSource, migrate } from "../../services/observer-manager/src/adapters/postgres/data-source.ts";
import { keptLog } from "../support/books.ts";
import { freshDatabase } from "../support/servers.ts";

/** As a manager of its own would have it. */
async function connect(databaseUrl: string, options: { statementTimeoutMs?: number } = {}) {
  const dataSource = await createDataSource({ databaseUrl, log: keptLog(), ...options }).initialize();
  onTestFinished(() => dataSource.destroy());
  return dataSource;
}

test("managers that start at once migrate once, and one that comes later finds nothing to do", async () => {
  const { databaseUrl } = await freshDatabase();
  const managers = await Promise.all([1, 2, 3].map(() => connect(databaseUrl)));
  const applied = await Promise.all(managers.map((manager) => migrate(manager)));
  expect(applied.flat().length).toBeGreaterThan(0);
  expect(new Set(applied.flat()).size).toBe(applied.flat().length);
  expect(await migrate(await connect(databaseUrl))).toEqual([]);
});

test("a statement that runs too long is ended by PostgreSQL, and the connection still serves", async () => {
  const { databaseUrl } = await freshDatabase();
  const dataSource = await connect(databaseUrl, { statementTimeoutMs: 100 });
  await expect(dataSource.query("SELECT pg_sleep(5)")).rejects.toMatchObject({ driverError: { code: "57014" } });
  expect(await dataSource.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
});
