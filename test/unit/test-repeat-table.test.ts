import { expect, test } from "vitest";
import { Tallies, tableOf } from "../../scripts/test/repeat-table.mjs";

const report = (status: string, duration: number) => ({
  numPassedTests: status === "passed" ? 1 : 0,
  numFailedTests: status === "failed" ? 1 : 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ status, assertionResults: [{ fullName: "a fault is survived", status, duration }] }],
});

test("the table of repeated runs counts for each test how often it passed and failed, and its shortest and longest time", () => {
  const tallies = new Tallies();
  tallies.add(report("passed", 1_240), 0);
  tallies.add(report("failed", 30_000), 1);
  tallies.add(null, 1);
  expect(tallies.total).toEqual({ passed: 1, failed: 2, skipped: 0 });
  expect(tableOf(tallies).split("\n")[1]).toBe("     1      1     1.2 –   30.0  a fault is survived");
});
