import type { TaskBatchResults, TaskView } from "@unacked/contracts";
import { expect, test } from "vitest";
import { answerOf, shown } from "../../../services/observer-manager/src/operations/requests/request-answer.ts";

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

test("A thousand refusals are far below what a message may have, in bytes, whatever is told of each", () => {
  const long = "\u{4e00}".repeat(15_000);
  const problem = {
    code: "unknown-type",
    status: 422,
    detail: long,
    errors: Array.from({ length: 100 }, () => ({ pointer: "/params", message: "is wrong" })),
    knownTypes: [long],
    knownPools: [long],
  };
  const refused = {
    results: Array.from({ length: 1_000 }, () => ({ status: 422, problem })),
  } as unknown as TaskBatchResults;
  const text = shown(refused);
  expect(Buffer.byteLength(text)).toBeLessThan(2_000_000);
  const { results } = JSON.parse(text) as TaskBatchResults;
  expect(results).toHaveLength(1_000);
  expect(results[999]).toEqual({
    status: 422,
    problem: {
      code: "unknown-type",
      status: 422,
      detail: `${"\u{4e00}".repeat(300)}\u2026`,
      errors: [{ pointer: "/params", message: "is wrong" }],
    },
  });
});

const unheardOf = (...codes: string[]): string | undefined => {
  const results = codes.map((code) => ({ status: 409, problem: { code, status: 409, detail: `why: ${code}` } }));
  const request = { name: "shop", messageId: "m-1", kind: "tasks", replyKey: undefined } as never;
  return answerOf(request, "done", JSON.stringify({ results })).unheard;
};

test("Of what nobody is answered, the errors have what went wrong, and not that there is a task of a key already", () => {
  expect(unheardOf("key-taken", "key-taken")).toBeUndefined();
  expect(unheardOf("key-taken", "forbidden")).toBe("shop, request m-1: 1 of 2 were refused; /1: forbidden: why: forbidden");
});
