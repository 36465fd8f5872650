import { createHash } from "node:crypto";
import { FlowTask, newFlowId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { digestOf, isDigestOf } from "../../../services/observer-manager/src/adapters/postgres/flows/flow-digest.ts";
import type { NewFlow } from "../../../services/observer-manager/src/operations/flows/flow-store.ts";
import { turnsUntil } from "../../support/time/loop-turns.ts";

const flowOf = (tasks: object[], name?: string): NewFlow => ({
  id: newFlowId(),
  name,
  tasks: FlowTask.array().parse(tasks.map((task, i) => ({ ref: `t${i}`, type: "t", ...task }))),
});

const TASKS = [
  { params: { url: "https://example.org/ü", of: { red: [1, { y: 1.5, x: null }], blue: true }, 10: "a", 9: "b" } },
  { after: ["t0"], startAt: "2026-01-01T00:00:00Z", params: [] },
];

test("What flows were created with before stays theirs: the digest of one is what it has always been", async () => {
  expect(await digestOf(flowOf(TASKS, "nightly"))).toBe("f54ac6bd4dde6199ad523fbe133a21b0a48dcb4c3da11d755c73c45ac6c81938");
  expect(await digestOf(flowOf(TASKS))).toBe("29cad0127810866a1716181a17d95756af9371abc042c2dcc12c57eaf3f22ead");
  expect(await digestOf(flowOf([]))).toBe("97294f05c3603881a6466e787eb8726dde04588d242bea02914b0f0a8e12bdb2");
});

test("So is the one of before keys were put in order", async () => {
  const flow = flowOf(TASKS, "nightly");
  const before = createHash("sha256")
    .update(JSON.stringify([flow.name, flow.tasks]))
    .digest("hex");
  expect(await digestOf(flow)).not.toBe(before);
  expect(await isDigestOf(before, flow)).toBe(true);
  expect(await isDigestOf(before, flowOf(TASKS))).toBe(false);
});

test("A flow as large as it may be is looked at in slices: everybody else goes on meanwhile", async () => {
  const params = Array.from({ length: 60_000 }, (_, i) => i % 1_000);
  const large = flowOf(Array.from({ length: 128 }, () => ({ params })));
  expect(await turnsUntil(Promise.resolve().then(() => digestOf(large)))).toBeGreaterThan(3);
});

test("One that is nested as deep as it may be has one, too", async () => {
  const deep: unknown = JSON.parse(`${"[".repeat(58)}{"b":1,"a":2}${"]".repeat(58)}`);
  expect(await digestOf(flowOf([{ params: deep }]))).toMatch(/^[0-9a-f]{64}$/);
});
