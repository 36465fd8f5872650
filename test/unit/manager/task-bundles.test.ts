import type { SendId, StartTask, TaskId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { bundleSize, bundlesOf } from "../../../services/observer-manager/src/domain/tasks/bundles.ts";

const task = (id: string, type: string, more: Partial<StartTask> = {}): StartTask => ({
  ...{ taskId: id as TaskId, sendId: `send-${id}` as SendId, type, params: {}, pool: "default", failures: 0 },
  ...more,
});
const first = (one: StartTask) => ({ task: one, isFirstSend: true });
const ids = (bundles: readonly (readonly StartTask[])[]) => bundles.map((bundle) => bundle.map(({ taskId }) => taskId));

test("a bundle is worked off in a tenth of a second by one worker alone, and holds a hundred at most", () => {
  expect([undefined, 0, 0.5, 1, 7, 50, 51, 99, 100, 5_000].map(bundleSize)).toEqual([1, 100, 100, 100, 14, 2, 1, 1, 1, 1]);
});

test("tasks of one short type travel together, in their order; others, and unknown ones, alone", () => {
  const claimed = [first(task("1", "short")), first(task("2", "long")), first(task("3", "short")), first(task("4", "new"))];
  const bundles = bundlesOf([...claimed, first(task("5", "short"))], (type) => ({ short: 50, long: 5_000 })[type]);
  expect(ids(bundles)).toEqual([["1", "3"], ["2"], ["4"], ["5"]]);
});

test("what was sent before, or has ended a slot or a service, travels alone", () => {
  const claimed = [
    first(task("1", "short")),
    { task: task("2", "short"), isFirstSend: false },
    first(task("3", "short", { alone: true })),
    first(task("4", "short")),
  ];
  expect(ids(bundlesOf(claimed, () => 1))).toEqual([["1", "4"], ["2"], ["3"]]);
});
