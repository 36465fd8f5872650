import type { TaskBatchResults, TaskView } from "@unacked/contracts";
import { expect, test } from "vitest";
import { shown } from "../../../services/observer-manager/src/operations/requests/request-answer.ts";

const resultsOf = (count: number, task: Partial<TaskView>) =>
  ({
    results: Array.from({ length: count }, (_, i) => ({ status: 200, task: { id: `t-${i}`, ...task } })),
  }) as TaskBatchResults;

test("Results and errors that are too long for a message are left out of an answer, as params are", () => {
  const lastError = { name: "Error", message: "x".repeat(16_384) };
  const text = shown(resultsOf(1_000, { params: {}, output: "x".repeat(60_000), lastError }));
  expect(text.length).toBeLessThan(4_000_000);
  const { results } = JSON.parse(text) as { results: { task: TaskView }[] };
  expect(results).toHaveLength(1_000);
  expect(results[999]?.task).toMatchObject({ id: "t-999", params: null, output: null });
  expect(results[999]?.task.lastError?.message).toHaveLength(200);
});

test("What fits is shown whole", () => {
  const results = resultsOf(10, { params: { a: 1 }, output: "result", lastError: null });
  expect(shown(results)).toBe(JSON.stringify(results));
});
