import { CreateTask } from "@unacked/contracts";
import { expect, test } from "vitest";
import { jsonCheck } from "../../../services/observer-manager/src/domain/json-check.ts";
import { checkParams } from "../../../services/observer-manager/src/domain/types/params-check.ts";

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
