import { expect, test } from "vitest";
import { changeText } from "../../../services/status-page/src/store/change-text.ts";

const changed = (fields: ("params" | "labels" | "retry" | "pool" | "silence")[], pending: "update" | null = "update") => ({
  name: "one",
  outcome: "changed" as const,
  pending,
  changed: fields.map((field) => ({ field, is: 1, wanted: 2 })),
});
const STOPPED = "one is stopped, and starts as it is wanted now.";
const TOLD = "one is told, as it runs, what is wanted now.";

test("who takes changes as it runs is told, others are stopped and started", () => {
  expect(changeText(changed(["params"]), true)).toBe(TOLD);
  expect(changeText(changed(["params", "retry", "labels"]), true)).toBe(TOLD);
  expect(changeText(changed(["params"]), false)).toBe(STOPPED);
  expect(changeText(changed(["retry"]), false)).toBe(STOPPED);
});

test("limits of silence are told to any, another pool is a start elsewhere for all", () => {
  expect(changeText(changed(["silence", "labels"]), false)).toBe(TOLD);
  expect(changeText(changed(["params", "pool"]), true)).toBe(STOPPED);
});

test("what takes nothing of what runs is done already", () => {
  expect(changeText(changed(["labels"], null), false)).toBe("one was changed.");
  expect(changeText({ ...changed([], null), outcome: "unchanged" }, false)).toBe("one is so already.");
});
