import { ChangeTaskType, CreateTask, issueWords, PutSchedule, TaskId, TimerId } from "@unacked/contracts";
import { describe, expect, it } from "vitest";
import type { z } from "zod";

const flawsOf = (schema: z.ZodType, given: unknown) => schema.safeParse(given).error?.issues.map(({ message }) => message);
const TASK = { type: "t" };

describe("a schedule says of what excludes each other", () => {
  it.each([
    [{ task: TASK }, "needs one of cron and everyMs"],
    [
      { task: TASK, cron: "* * * * *", everyMs: 5_000 },
      "only one of cron and everyMs may be given, and there are cron and everyMs",
    ],
    [{}, "needs one of task and observers"],
    [
      { task: TASK, observers: { names: ["a"] } },
      "only one of task and observers may be given, and there are task and observers",
    ],
  ])("%j: %s", (given, message) => {
    expect(flawsOf(PutSchedule, given)).toEqual([message]);
  });

  const hours = [{ from: "09:30", to: "16:00" }];
  it.each([
    [{}, "needs one of ids, names and filter"],
    [
      { names: ["a"], filter: { type: "t" } },
      "only one of ids, names and filter may be given, and there are names and filter",
    ],
  ])("its observers %j: %s", (observers, message) => {
    expect(flawsOf(PutSchedule, { hours, observers })).toEqual([message]);
  });

  it("is well with one of each", () => {
    expect(flawsOf(PutSchedule, { cron: "* * * * *", task: TASK })).toBeUndefined();
    expect(flawsOf(PutSchedule, { hours, observers: { filter: { type: "t" } } })).toBeUndefined();
  });

  it("has no onConflict of a task without a key, but for the default", () => {
    const withTask = (task: object) => flawsOf(PutSchedule, { cron: "* * * * *", task: { ...TASK, ...task } });
    expect(withTask({ onConflict: "return" })).toEqual(["needs a `key`: without one nothing is in its way"]);
    expect(withTask({ onConflict: "return", key: "k" })).toBeUndefined();
    expect(withTask({ onConflict: "reject" })).toBeUndefined();
  });
});

it("a limit of 0 is refused with what lets none start", () => {
  for (const limit of ["maxRunning", "ratePerSecond"])
    expect(flawsOf(ChangeTaskType, { [limit]: 0 })).toEqual([
      "must be 1 or more; `paused` lets none start, null takes the limit away",
    ]);
  expect(flawsOf(ChangeTaskType, { minRunning: 0, maxRunning: null })).toBeUndefined();
});

it.each([
  ["task", TaskId],
  ["timer", TimerId],
])("what is no id of a %s is refused with what one looks like", (_kind, schema) => {
  expect(flawsOf(schema, "nope")?.map(issueWords)).toEqual(["must be a UUID, such as 01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41"]);
});

it("onConflict of a task without a key is refused, but for the default", () => {
  expect(CreateTask.safeParse({ ...TASK, onConflict: "return" }).error?.issues).toMatchObject([
    { path: ["onConflict"], message: "needs a `key`: without one nothing is in its way" },
  ]);
  expect(flawsOf(CreateTask, { ...TASK, onConflict: "return", key: "k" })).toBeUndefined();
  expect(flawsOf(CreateTask, { ...TASK, onConflict: "reject" })).toBeUndefined();
});
