import type { DataSource } from "typeorm";
import { describe, expect, test } from "vitest";
import { PostgresChangeLog } from "../../../services/observer-manager/src/adapters/postgres/changes/change-feed.ts";

/** A server that answers what it is asked, but for its timeline: that it refuses. */
function serverThatSays(code: string) {
  const refusal = Object.assign(new Error("no"), { code, severity: "ERROR" });
  const answers: [RegExp, () => object[]][] = [
    [
      /pg_walfile_name/,
      () => {
        throw refusal;
      },
    ],
    [/has_function_privilege/, () => [{ may: true }]],
    [/system_identifier/, () => [{ server: "7" }]],
    [/pg_current_snapshot/, () => [{ settled: "3", latest: "4", database: "5" }]],
  ];
  const query = async (sql: string) => answers.find(([asked]) => asked.test(sql))?.[1]();
  return new PostgresChangeLog({ query } as unknown as DataSource);
}

describe("a server whose timeline cannot be had", () => {
  test.each(["42501", "42883", "0A000"])("is followed without it, where it refuses to tell for good: %s", async (code) => {
    expect(await serverThatSays(code).horizon()).toEqual({ settled: 3n, latest: 4n, database: "7..5" });
  });

  test("is asked again, where it just cannot answer", async () => {
    await expect(serverThatSays("57014").horizon()).rejects.toThrow("no");
  });
});
