import type { StartTask } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TaskLane } from "../../../services/observer-service/src/keeper/tasks/task-lane.ts";
import type { TaskRun } from "../../../services/observer-service/src/keeper/tasks/task-run.ts";

type Named = Pick<TaskRun, "attempt"> & { task: StartTask };
const run = (name: string): TaskRun => {
  const named: Named = { task: { taskId: name } as unknown as StartTask, attempt: undefined };
  named.attempt = { abort: () => undefined, recall: () => void did.push(`recall ${name}`) };
  return named as TaskRun;
};
const nameOf = ({ task }: TaskRun): string => task.taskId;
const names = (lane: TaskLane) => lane.left.map(nameOf);

/** What the lane has done, in that order. */
let did: string[] = [];
let mayStandBehind = false;
let [a, b, c, d] = [run("a"), run("b"), run("c"), run("d")];
let lane: TaskLane;

const taken = (): string[] => did.splice(0);
const giveUp = (one: TaskRun): void => {
  did.push(`give up ${nameOf(one)}`);
  lane.leave(one);
};
const laneOf = (runs: TaskRun[]): TaskLane =>
  new TaskLane(runs, {
    begin: (one) => did.push(`begin ${nameOf(one)}`),
    beginBehind: (one, other) => {
      if (mayStandBehind) did.push(`${nameOf(one)} behind ${nameOf(other)}`);
      return mayStandBehind;
    },
    begun: (one) => did.push(`begun ${nameOf(one)}`),
  });

beforeEach(() => {
  vi.useFakeTimers();
  did = [];
  mayStandBehind = false;
  [a, b, c, d] = [run("a"), run("b"), run("c"), run("d")];
  lane = laneOf([a, b, c]);
});
afterEach(() => void vi.useRealTimers());

test("each begins when the one before it has ended, and the last says that it was", () => {
  expect(taken()).toEqual([]);
  lane.begin(giveUp);
  expect(taken()).toEqual(["begin a"]);
  expect(lane.leave(a)).toBe(false);
  expect(taken()).toEqual(["begin b"]);
  expect([lane.leave(b), lane.leave(c)]).toEqual([false, true]);
  expect(taken()).toEqual(["begin c"]);
});

test("who leaves while he waits begins nothing, with a worker or without one", () => {
  lane.leave(a);
  lane.begin(giveUp);
  lane.leave(c);
  expect(taken()).toEqual(["begin b"]);
  expect(lane.leave(b)).toBe(true);
});

test("what begins again keeps its place", () => {
  lane.begin(giveUp);
  const again = run("again");
  lane.replace(a, again);
  lane.leave(again);
  expect(taken()).toEqual(["begin a", "begin again", "begin b"]);
});

test("who has waited for two seconds is given up, and not who runs", () => {
  lane.begin(giveUp);
  taken();
  vi.advanceTimersByTime(1_999);
  expect(taken()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(taken()).toEqual(["give up c", "give up b"]);
  expect(names(lane)).toEqual(["a"]);
});

describe("where they may stand behind one another", () => {
  beforeEach(() => {
    mayStandBehind = true;
  });

  test("they do at once, and each is said to have begun when the one before it has ended", () => {
    lane.begin(giveUp);
    expect(taken()).toEqual(["begin a", "b behind a", "c behind b"]);
    lane.leave(a);
    expect(taken()).toEqual(["begun b"]);
    expect([lane.leave(b), lane.leave(c)]).toEqual([false, true]);
    expect(taken()).toEqual(["begun c"]);
  });

  test("no more than sixteen, and another one with each end", () => {
    const runs = Array.from({ length: 20 }, (_, i) => run(String(i)));
    lane = laneOf(runs);
    lane.begin(giveUp);
    expect(taken()).toEqual(["begin 0", ...Array.from({ length: 16 }, (_, i) => `${i + 1} behind ${i}`)]);
    lane.leave(runs[0] as TaskRun);
    expect(taken()).toEqual(["begun 1", "17 behind 16"]);
  });

  test("who ends in the middle begins nothing", () => {
    lane.begin(giveUp);
    taken();
    lane.leave(b);
    expect(taken()).toEqual([]);
    lane.leave(a);
    expect(taken()).toEqual(["begun c"]);
  });

  test("what begins again waits for those that were put behind it, as one of them may run", () => {
    lane = laneOf([a, b, c, d]);
    lane.begin(giveUp);
    taken();
    const again = run("again");
    lane.replace(a, again);
    expect(taken()).toEqual(["begun b"]);
    lane.notBegun(d);
    lane.leave(b);
    expect(taken()).toEqual(["begun c"]);
    lane.leave(c);
    expect(taken()).toEqual(["begin again", "d behind again"]);
    expect(names(lane)).toEqual(["again", "d"]);
  });

  test("of a slot that has gone none begins before all of it has come back", () => {
    lane.begin(giveUp);
    taken();
    mayStandBehind = false; // it is gone
    lane.notBegun(b);
    lane.notBegun(c);
    expect(taken()).toEqual([]);
    mayStandBehind = true;
    lane.replace(a, run("again"));
    expect(taken()).toEqual(["begin again", "b behind again", "c behind b"]);
  });

  test("who has waited for two seconds is recalled, and given up once it is known that he has not begun", () => {
    lane.begin(giveUp);
    taken();
    vi.advanceTimersByTime(2_000);
    expect(taken()).toEqual(["recall c", "recall b"]);
    lane.notBegun(c);
    expect(taken()).toEqual(["give up c"]);
    lane.leave(a); // b had begun before he was recalled
    expect(taken()).toEqual(["begun b"]);
    expect(names(lane)).toEqual(["b"]);
  });
});
