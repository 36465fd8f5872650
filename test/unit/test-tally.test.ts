import { describe, expect, test } from "vitest";
import { failuresOf } from "../../scripts/test/failures.mjs";
import { lastLineOf, sumOf, tallyOf } from "../../scripts/test/tally.mjs";

const REPORT = { numPassedTests: 5, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] };

describe("the last line of npm test", () => {
  test("counts what passed, failed and was skipped", () => {
    const tally = tallyOf({ ...REPORT, numFailedTests: 2, numPendingTests: 1, numTodoTests: 1 }, 1);
    expect(lastLineOf(tally)).toBe("5 passed, 2 failed, 2 skipped");
    expect(lastLineOf(tallyOf(REPORT, 0))).toBe("5 passed, 0 failed");
  });

  test("a file that cannot be loaded is a failure, though no test in it failed", () => {
    const testResults = [
      { name: "/a.test.ts", status: "failed", assertionResults: [] },
      { name: "/b.test.ts", status: "failed", assertionResults: [{ status: "failed" }] },
    ];
    expect(tallyOf({ ...REPORT, numFailedTests: 1, testResults }, 1).failed).toBe(2);
  });

  test("an error outside every test is a failure, and so is a run of nothing and one without a report", () => {
    expect(tallyOf(REPORT, 1).failed).toBe(1);
    expect(tallyOf({ ...REPORT, numPassedTests: 0 }, 0).failed).toBe(1);
    expect(tallyOf(null, 0).failed).toBe(1);
  });

  test("is that of all its runs, and says why there was no cluster", () => {
    const total = [tallyOf(REPORT, 0), tallyOf({ ...REPORT, numPassedTests: 2, numFailedTests: 1 }, 1)].reduce(sumOf);
    expect(lastLineOf(total)).toBe("7 passed, 1 failed");
    expect(lastLineOf(total, { "the tests of test/cluster": "it needs root", "those of k8s/": "" })).toBe(
      "7 passed, 1 failed; the tests of test/cluster were skipped: it needs root",
    );
  });
});

describe("what failed, at the end of npm test", () => {
  test("is each test that failed with the beginning of its error, and each file that could not be loaded", () => {
    const failed = { status: "failed", fullName: "a queue keeps", failureMessages: ["Error: no\n\n    at x"] };
    const testResults = [
      { name: "/here/test/a.test.ts", status: "failed", assertionResults: [failed, { status: "passed" }] },
      { name: "/here/test/b.test.ts", status: "failed", message: "no such module", assertionResults: [] },
      { name: "/here/test/c.test.ts", status: "passed", assertionResults: [{ status: "passed" }] },
    ];
    expect(failuresOf({ ...REPORT, testResults }, "/here")).toEqual([
      "✗ test/a.test.ts > a queue keeps\n    Error: no\n        at x",
      "✗ test/b.test.ts\n    no such module",
    ]);
    expect(failuresOf(null, "/here")).toEqual([]);
  });

  test("of a long error it is only the beginning", () => {
    const failed = { status: "failed", fullName: "b", failureMessages: ["line\n".repeat(40)] };
    const testResults = [{ name: "/here/a.test.ts", status: "failed", assertionResults: [failed] }];
    expect(failuresOf({ ...REPORT, testResults }, "/here")[0]?.split("\n")).toHaveLength(14);
  });
});
