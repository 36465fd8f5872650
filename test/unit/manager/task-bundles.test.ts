import type { SendId, StartTask, TaskId } from "@unacked/contracts";
import { expect, test } from "vitest";
import {
  bundleSize,
  bundlesOf,
  callsOf,
  countByType,
  joinersOf,
} from "../../../services/observer-manager/src/domain/tasks/bundles.ts";

const task = (id: string, type: string, more: Partial<StartTask> = {}): StartTask => ({
  ...{ taskId: id as TaskId, sendId: `send-${id}` as SendId, type, params: {}, pool: "default", failures: 0 },
  ...more,
});
const first = (one: StartTask) => ({ task: one, isFirstSend: true, isUnhurt: true });
const pace = (meanMs: number | undefined, batchSize: number | null = null) => ({ meanMs: meanMs ?? null, batchSize });
const ids = ({ bundles }: ReturnType<typeof bundlesOf>) => bundles.map(({ tasks }) => tasks.map(({ taskId }) => taskId));

test("a bundle is worked off by one worker alone in the time that its last may wait, and holds a hundred at most; one more where no worker is free", () => {
  const sizes = (waitMs: number, areBusy: boolean) =>
    [undefined, 0, 0.5, 1, 7, 50, 51, 99, 100, 101, 5_000].map((meanMs) => bundleSize(meanMs, waitMs, areBusy));
  expect(sizes(100, false)).toEqual([1, 100, 100, 100, 14, 2, 1, 1, 1, 1, 1]);
  expect(sizes(100, true)).toEqual([1, 100, 100, 100, 15, 3, 2, 2, 2, 1, 1]);
  expect(sizes(200, false).slice(3)).toEqual([100, 28, 4, 3, 2, 2, 1, 1]);
});

test("tasks of one short type travel together, in their order; others, and unknown ones, alone", () => {
  const claimed = [first(task("1", "short")), first(task("2", "long")), first(task("3", "short")), first(task("4", "new"))];
  const bundles = bundlesOf(
    [...claimed, first(task("5", "short"))],
    (type) => pace({ short: 50, long: 5_000 }[type]),
    100,
    false,
  );
  expect(ids(bundles)).toEqual([["1", "3"], ["2"], ["4"], ["5"]]);
});

test("what was sent before, or has ended a slot or a service, travels alone", () => {
  const claimed = [
    first(task("1", "short")),
    { task: task("2", "short"), isFirstSend: false, isUnhurt: true },
    first(task("3", "short", { alone: true })),
    first(task("4", "short")),
  ];
  expect(ids(bundlesOf(claimed, () => pace(1), 100, false))).toEqual([["1", "4"], ["2"], ["3"]]);
});

test("of a type that takes batches so many go together as a call takes, known as short or not; what was interrupted goes alone", () => {
  const claimed = ["1", "2", "3", "4"].map((id) => first(task(id, "many")));
  const hurt = { ...first(task("5", "many")), isUnhurt: false };
  const triedBefore = { ...first(task("6", "many", { failures: 1 })), isFirstSend: false };
  const bundles = bundlesOf([...claimed, hurt, triedBefore], () => pace(undefined, 3), 100, false);
  expect(ids(bundles)).toEqual([["1", "2", "3"], ["4", "6"], ["5"]]);
});

test("what is large travels in more messages", () => {
  const params = "x".repeat(900_000);
  const claimed = ["1", "2", "3", "4"].map((id) => first(task(id, "short", { params })));
  expect(ids(bundlesOf(claimed, () => pace(1), 100, false))).toEqual([
    ["1", "2"],
    ["3", "4"],
  ]);
});

test("what is large is so in bytes, as frames are; and with what it comes after", () => {
  const output = JSON.stringify("語".repeat(300_000));
  const inputs = [{ ref: "a", status: "Completed" as const, output }];
  const claimed = ["1", "2", "3"].map((id) => first(task(id, "many", { inputs })));
  expect(ids(bundlesOf(claimed, () => pace(undefined, 3), 100, false))).toEqual([["1", "2"], ["3"]]);
});

const inLane = (id: string, lane: string, more: Partial<StartTask> = {}) => ({
  ...first(task(id, "few", more)),
  lane: lane as TaskId,
});

test("who joined a lane travels with its first, in turn; a lane that nobody joined, with others of its type", () => {
  const claimed = [inLane("1", "1"), inLane("2", "2"), inLane("3", "3"), inLane("4", "4")];
  const { bundles, left } = bundlesOf(
    [...claimed, inLane("5", "2"), inLane("6", "3"), inLane("7", "2")],
    () => pace(1),
    100,
    false,
  );
  expect(bundles.map(({ inTurn, tasks }) => [inTurn, ...tasks.map(({ taskId }) => taskId)])).toEqual([
    [false, "1", "4"],
    [true, "2", "5", "7"],
    [true, "3", "6"],
  ]);
  expect(left).toEqual([]);
});

test("who finds no place in the message of his lane is left", () => {
  const params = "x".repeat(1_500_000);
  const { bundles, left } = bundlesOf(
    [inLane("1", "1", { params }), inLane("2", "1", { params })],
    () => pace(1),
    100,
    false,
  );
  expect(bundles).toHaveLength(1);
  expect(left.map(({ taskId }) => taskId)).toEqual(["2"]);
});

test("as many may join as are worked off in a tenth of a second; nobody joins what is long, unknown, in batches or sent before", () => {
  const lane = inLane("1", "1");
  expect([1, 20, 60, undefined].map((meanMs) => joinersOf(lane, pace(meanMs), 100))).toEqual([99, 4, 0, 0]);
  expect([1, 20, 60].map((meanMs) => joinersOf(lane, pace(meanMs), 200))).toEqual([99, 9, 2]);
  expect(joinersOf(lane, pace(1, 50), 100)).toBe(0);
  expect(joinersOf({ ...lane, isFirstSend: false }, pace(1), 100)).toBe(0);
  expect(joinersOf(inLane("1", "1", { alone: true }), pace(1), 100)).toBe(0);
  expect(joinersOf(first(task("1", "free")), pace(1), 100)).toBe(0);
});

test("a call takes one worker: of a type that takes batches a full one or the rest, of others each task", () => {
  const counts = countByType(
    ["gather", "gather", "gather", "pair", "mail", "mail"].map((type, i) => first(task(`${i}`, type))),
  );
  expect([...counts]).toEqual([
    ["gather", 3],
    ["pair", 1],
    ["mail", 2],
  ]);
  const sizes = [
    new Map(),
    new Map([["gather", 3]]),
    new Map([
      ["gather", 2],
      ["pair", 2],
    ] as const),
  ];
  expect(sizes.map((batches) => callsOf(counts, batches))).toEqual([6, 4, 5]);
  expect(callsOf(new Map(), new Map([["gather", 3]]))).toBe(0);
});
