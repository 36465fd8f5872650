import { PROBLEMS, type ProblemCode } from "@unacked/contracts";
import { expect } from "vitest";

/** That no worker can be had is so, and in these tests there is no broker to ask for logs. Whatever else is a 5xx is a fault of ours. */
const RIGHT_5XX: ReadonlySet<string> = new Set<ProblemCode>(["no-free-worker", "pool-not-served", "logs-unavailable"]);

/** @param text of the whole answer, to be told */
export function expectRightRefusal(status: number, code: string | undefined, text: string): void {
  expect(PROBLEMS[code as ProblemCode]?.status, text).toBe(status);
  if (status >= 500) expect(RIGHT_5XX, text).toContain(code);
}
