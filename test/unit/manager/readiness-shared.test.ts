import { DataSource } from "typeorm";
import { expect, onTestFinished, test, vi } from "vitest";
import { DatabaseSide } from "../../../services/observer-manager/src/adapters/postgres/database-side.ts";

/* /readyz is open to all, and counts against no limit of rate. */

const log = { info() {}, warn() {}, error() {}, debug() {} } as never;

test("Those who ask for readiness at once are told what one check has found; the next who asks has another", async () => {
  const query = vi.spyOn(DataSource.prototype, "query").mockImplementation(async () => [{ may: true }]);
  onTestFinished(() => query.mockRestore());
  const database = new DatabaseSide({ databaseUrl: "postgres://a@127.0.0.1:1/a", tls: {}, poolSize: 2, log });
  onTestFinished(() => database.close());
  const answers = await Promise.all(Array.from({ length: 200 }, () => database.check()));
  expect(answers).toEqual(Array.from({ length: 200 }, () => ({ ok: true, detail: "answers" })));
  expect(query).toHaveBeenCalledTimes(1);
  await database.check();
  expect(query).toHaveBeenCalledTimes(2);
});
