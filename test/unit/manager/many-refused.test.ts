import { expect, test } from "vitest";
import type { Refusal } from "../../../services/observer-manager/src/operations/refusal.ts";
import {
  batchReceipts,
  batchResults,
} from "../../../services/observer-manager/src/operations/tasks/creations/task-batch.ts";

const refusals = (count: number, types: number): Refusal[] => {
  const knownTypes = Array.from({ length: types }, (_, i) => `a-type-of-this-pool-${i}`);
  return Array.from({ length: count }, () => ({ kind: "problem", code: "unknown-type", knownTypes }));
};
const named = (results: object[]) =>
  results.filter((one) => "problem" in one && "knownTypes" in (one.problem as object)).length;

test.each([
  ["with the tasks", batchResults],
  ["of receipts", batchReceipts],
])("an answer %s that refuses ten thousand says which types are known once, or some times", (_, answer) => {
  const { results } = answer(refusals(10_000, 1_000), "r");
  expect(named(results)).toBe(10);
  expect(JSON.stringify(results).length).toBeLessThan(6_000_000);
  expect(named(answer(refusals(10_000, 20_000), "r").results)).toBe(1);
});

test("each of a hundred says it", () => {
  expect(named(batchResults(refusals(100, 100), "r").results)).toBe(100);
});
