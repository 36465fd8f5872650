import type { DataSource } from "typeorm";
import { describe, expect, test } from "vitest";
import { PostgresChangeLog } from "../../../services/observer-manager/src/adapters/postgres/changes/change-feed.ts";

/** A server that answers what it is asked, but for its timeline: that it refuses. `horizons`: one look after the other. */
function serverThatSays(code: string, horizons: object[] = [{ latest: "4", running: ["3"], elsewhere: [], database: "5" }]) {
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
    [/pg_current_snapshot/, () => horizons.splice(0, 1)],
  ];
  const query = async (sql: string) => answers.find(([asked]) => asked.test(sql))?.[1]();
  return new PostgresChangeLog({ query } as unknown as DataSource);
}

describe("a server whose timeline cannot be had", () => {
  test.each(["42501", "42883", "0A000"])("is followed without it, where it refuses to tell for good: %s", async (code) => {
    expect(await serverThatSays(code).horizon()).toEqual({ settled: 3n, latest: 4n, running: [3n], database: "7..5" });
  });

  test("is asked again, where it just cannot answer", async () => {
    await expect(serverThatSays("57014").horizon()).rejects.toThrow("no");
  });
});

test("A transaction that was seen in another database counts no more, also where it is not seen there the next time", async () => {
  const horizon = { latest: "9", running: ["3", "5", "8"], database: "5" };
  const log = serverThatSays("42501", [
    { ...horizon, elsewhere: ["3"] },
    { ...horizon, elsewhere: [] }, // it ended between the snapshot and the look at the sessions
    { ...horizon, running: ["8"], elsewhere: ["8"] },
  ]);
  expect(await log.horizon()).toMatchObject({ settled: 5n, running: [5n, 8n] });
  expect(await log.horizon()).toMatchObject({ settled: 5n, running: [5n, 8n] });
  expect(await log.horizon()).toMatchObject({ settled: 9n, running: [] });
});
