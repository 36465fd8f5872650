import { CreateTask } from "@unacked/contracts";
import { expect, test } from "vitest";
import { toldFields } from "../../../services/observer-manager/src/domain/field-problems.ts";
import { jsonCheck } from "../../../services/observer-manager/src/domain/json-check.ts";
import { KnownTypes } from "../../../services/observer-manager/src/domain/types/known-types.ts";
import { checkParams, checksOfCall } from "../../../services/observer-manager/src/domain/types/params-check.ts";

test("A body of many wrong fields is told the first hundred of them, and is not answered by many times its own length", () => {
  const unknown = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 0]));
  const checked = jsonCheck(CreateTask, { type: "any", ...unknown });
  expect(checked).toMatchObject({ ok: false });
  if (checked.ok) return;
  expect(checked.errors).toHaveLength(100);
  expect(checked.errors[0]).toEqual({ pointer: "/k0", message: "there is no such field" });
});

test("Params of many wrong values below one long key are told the first hundred of them", () => {
  const type = { type: "object", additionalProperties: { type: "array", items: { type: "string" } } };
  const errors = checkParams(type, { ["k".repeat(1_000)]: Array.from({ length: 400 }, () => 0) });
  expect(errors).toHaveLength(100);
});

test("What is told of many together is bounded, however long the places are: later ones have the beginning of their first wrong field", () => {
  const told = toldFields();
  const problems = ["a", "b"].map((end) => ({ pointer: "x".repeat(200_000) + end, message: "is wrong" }));
  const counts = Array.from({ length: 4 }, () => told(problems).length);
  expect(counts).toEqual([2, 2, 1, 1]);
  expect(told(problems)).toEqual([{ pointer: `${"x".repeat(300)}…`, message: "is wrong" }]);
  expect(told([{ pointer: "/x", message: "is wrong" }])).toEqual([{ pointer: "/x", message: "is wrong" }]);
  expect(told([{ pointer: "/x", message: "y".repeat(400) }])).toEqual([{ pointer: "/x", message: `${"y".repeat(300)}…` }]);
  expect(told([])).toEqual([]);
});

test("The same bound holds for the params of many that are checked in one call", () => {
  const paramsSchema = { type: "object", additionalProperties: { type: "array", items: { type: "string" } } };
  const known = new KnownTypes([{ type: "any", paramsSchema }]);
  const checks = checksOfCall();
  const params = { ["k".repeat(10_000)]: Array.from({ length: 60 }, () => 0) };
  const counts = Array.from({ length: 3 }, () => known.problemsOf("any", params, checks)?.length);
  expect(counts).toEqual([60, 39, 1]);
});
