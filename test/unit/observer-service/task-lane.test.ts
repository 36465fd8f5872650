import type { StartTask } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TaskLane } from "../../../services/observer-service/src/keeper/tasks/task-lane.ts";
import type { TaskRun } from "../../../services/observer-service/src/keeper/tasks/task-run.ts";

const run = (name: string): TaskRun => ({ task: { taskId: name } as unknown as StartTask }) as TaskRun;
const nameOf = ({ task }: TaskRun): string => task.taskId;
const names = (lane: TaskLane) => lane.left.map(nameOf);
let began: string[] = [];
let givenUp: string[] = [];
let [a, b, c] = [run("a"), run("b"), run("c")];
let lane: TaskLane;

const giveUp = (one: TaskRun): void => {
  givenUp.push(nameOf(one));
  lane.leave(one);
};

beforeEach(() => {
  vi.useFakeTimers();
  [began, givenUp] = [[], []];
  [a, b, c] = [run("a"), run("b"), run("c")];
  lane = new TaskLane([a, b, c], (one) => began.push(nameOf(one)));
});
afterEach(() => void vi.useRealTimers());

test("each begins when the one before it has ended, and the last says that it was", () => {
  expect(began).toEqual([]);
  lane.begin(giveUp);
  expect(began).toEqual(["a"]);
  expect(lane.leave(a)).toBe(false);
  expect(began).toEqual(["a", "b"]);
  expect([lane.leave(b), lane.leave(c)]).toEqual([false, true]);
  expect(began).toEqual(["a", "b", "c"]);
});

test("who leaves while he waits begins nothing, with a worker or without one", () => {
  lane.leave(a);
  lane.begin(giveUp);
  lane.leave(c);
  expect(began).toEqual(["b"]);
  expect(lane.leave(b)).toBe(true);
});

test("what begins again keeps its place", () => {
  lane.begin(giveUp);
  const again = run("again");
  lane.replace(a, again);
  lane.leave(again);
  expect(began).toEqual(["a", "b"]);
});

test("who has waited for a second is given up, and not who runs", () => {
  lane.begin(giveUp);
  vi.advanceTimersByTime(999);
  expect(givenUp).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(givenUp).toEqual(["c", "b"]);
  expect(names(lane)).toEqual(["a"]);
  expect(began).toEqual(["a"]);
});
