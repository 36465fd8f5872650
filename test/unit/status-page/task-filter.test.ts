import { expect, test } from "vitest";
import { addressOfTasks, isNarrowed, queryOf, taskFilterOf } from "../../../services/status-page/src/store/task-filter.ts";

test("what the list of tasks is narrowed to stands in the address, and is asked for in the manager's words", () => {
  const filter = taskFilterOf("?service=worker-1&type=resize&status=Running&other=1");
  expect(filter).toEqual({ status: "Running", type: "resize", pool: "", service: "worker-1", id: "" });
  expect(addressOfTasks({ ...filter, type: "" })).toBe("/tasks?status=Running&service=worker-1");
  expect(queryOf(filter)).toEqual({ status: ["Running"], type: "resize", service: "worker-1" });
});

test("a link narrows it to what it names alone", () => {
  expect(addressOfTasks({ service: "worker & co" })).toBe("/tasks?service=worker+%26+co");
  expect([addressOfTasks({}), isNarrowed(taskFilterOf("")), isNarrowed(taskFilterOf("?service=a"))]).toEqual([
    "/tasks",
    false,
    true,
  ]);
});
