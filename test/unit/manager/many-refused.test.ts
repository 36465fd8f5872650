import { CreateTask } from "@unacked/contracts";
import { expect, test } from "vitest";
import { whyNoTimer, whyNotAllowed } from "../../../services/observer-manager/src/domain/requests/request-users.ts";
import type { Refusal } from "../../../services/observer-manager/src/operations/refusal.ts";
import {
  batchReceipts,
  batchResults,
} from "../../../services/observer-manager/src/operations/tasks/creations/task-batch.ts";
import { unknownTypes } from "../../../services/observer-manager/src/operations/types/unknown-type.ts";

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

test("what ten thousand are told of the pools that know their type is bounded, and the first is told of all of them", () => {
  const pools = Array.from({ length: 140 }, (_, i) => ({ pool: `pool-of-tenant-${i}`, types: [], taskTypes: ["resize"] }));
  const refuse = unknownTypes("tasks", pools);
  const told = Array.from({ length: 10_000 }, () =>
    refuse({ kind: "problem", code: "unknown-type" }, { pool: "default", type: "resize" }),
  );
  const { results } = batchResults(told, "r");
  expect(JSON.stringify(results).length).toBeLessThan(10_000_000);
  expect(results[0]).toMatchObject({ problem: { knownPools: pools.map(({ pool }) => pool) } });
  expect(results[0]).toMatchObject({
    problem: {
      detail: expect.stringMatching(
        /known in pools pool-of-tenant-0, (\S+, ){8}pool-of-tenant-9 and 130 others: send pool "pool-of-tenant-0" or another of these$/,
      ),
    },
  });
});

test("who may not create one type of many is told the first of those that he may", () => {
  const names = Array.from({ length: 300 }, (_, i) => `type-${i}`);
  const user = { role: "operator" as const, types: names, pools: names, timers: names, perMinute: 60 };
  const first = `${names.slice(0, 10).join(", ")} and 290 others`;
  expect(whyNotAllowed("shop", user, CreateTask.parse({ type: "x" }))).toContain(`gives it ${first}`);
  expect(whyNotAllowed("shop", user, CreateTask.parse({ type: "type-1" }))).toContain(`gives it ${first}`);
  expect(whyNoTimer("shop", user, "x")).toContain(`names that begin with ${first}`);
});
