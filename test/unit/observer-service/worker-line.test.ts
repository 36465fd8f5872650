import type { StartTask } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { TaskRun } from "../../../services/observer-service/src/keeper/tasks/task-run.ts";
import { WorkerLine } from "../../../services/observer-service/src/keeper/tasks/worker-line.ts";

const run = (name: string): TaskRun => ({ task: { taskId: name } as unknown as StartTask }) as TaskRun;
const nameOf = ({ task }: TaskRun): string => task.taskId;
let began: string[] = [];
let givenUp: string[] = [];
let line: WorkerLine<TaskRun>;

beforeEach(() => {
  vi.useFakeTimers();
  [began, givenUp] = [[], []];
  line = new WorkerLine<TaskRun>({
    workers: 2,
    begin: (one) => began.push(nameOf(one)),
    giveUp: (one) => {
      givenUp.push(nameOf(one));
      line.leave(one);
    },
  });
});
afterEach(() => void vi.useRealTimers());

test("no more begin than there are workers; who waits begins in turn, when one leaves", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map(run) as [TaskRun, TaskRun, TaskRun, TaskRun];
  for (const one of [a, b, c, d]) line.enter(one);
  expect(began).toEqual(["a", "b"]);
  line.leave(b);
  expect(began).toEqual(["a", "b", "c"]);
  line.leave(a);
  expect(began).toEqual(["a", "b", "c", "d"]);
  vi.advanceTimersByTime(10_000);
  expect(givenUp).toEqual([]);
});

test("it is stocked while half as many wait as there are workers", () => {
  const wide = new WorkerLine<TaskRun>({ workers: 4, begin: () => undefined, giveUp: () => undefined });
  const all = ["a", "b", "c", "d", "e", "f"].map(run);
  const stocked = all.map((one) => {
    wide.enter(one);
    return wide.isStocked;
  });
  expect(stocked).toEqual([false, false, false, false, false, true]);
  wide.leave(all[0] as TaskRun);
  expect(wide.isStocked).toBe(false);
});

test("who leaves the line while it waits frees no worker", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map(run) as [TaskRun, TaskRun, TaskRun, TaskRun];
  for (const one of [a, b, c, d]) line.enter(one);
  line.leave(c);
  expect(began).toEqual(["a", "b"]);
  line.leave(a);
  expect(began).toEqual(["a", "b", "d"]);
});

test("who has waited for a second is given up, and who came later a second later", () => {
  for (const name of ["a", "b", "c"]) line.enter(run(name));
  vi.advanceTimersByTime(600);
  line.enter(run("d"));
  vi.advanceTimersByTime(399);
  expect(givenUp).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(givenUp).toEqual(["c"]);
  vi.advanceTimersByTime(601);
  expect(givenUp).toEqual(["c", "d"]);
});

test("what begins again in another slot keeps its worker", () => {
  const [a, again, b, c] = ["a", "again", "b", "c"].map(run) as [TaskRun, TaskRun, TaskRun, TaskRun];
  for (const one of [a, b, c]) line.enter(one);
  line.handOver(a, again);
  expect(began).toEqual(["a", "b"]);
  line.leave(again);
  expect(began).toEqual(["a", "b", "c"]);
});

test("thousands that leave as soon as they begin do so one after the other", () => {
  const left: string[] = [];
  const busy = run("busy");
  const quick = new WorkerLine<TaskRun>({
    workers: 1,
    begin: (one) => {
      if (one === busy) return;
      left.push(nameOf(one));
      quick.leave(one);
    },
    giveUp: () => undefined,
  });
  quick.enter(busy);
  const names = Array.from({ length: 20_000 }, (_, i) => String(i));
  for (const name of names) quick.enter(run(name));
  quick.leave(busy);
  expect(left).toEqual(names);
});
