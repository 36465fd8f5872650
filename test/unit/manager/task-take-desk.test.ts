import type { TaskStatus } from "@unacked/contracts";
import { expect, test } from "vitest";
import {
  TaskTakeDesk,
  type TaskTakeDeskParts,
} from "../../../services/observer-manager/src/operations/tasks/takes/task-take-desk.ts";
import { SOMEBODY } from "../../support/servers/books.ts";

test.each<[TaskStatus, string[]]>([
  ["Completed", ["ended Completed", "over", "room"]],
  ["Failed", ["ended Failed", "over", "room"]],
  ["Cancelled", ["ended Cancelled", "over", "room"]],
  ["Scheduled", ["something is due"]],
  ["Ready", ["something is due"]], // its key has newer params
])("An end after which the task is %s is told as that, and has the dispatcher look for no more", async (status, told) => {
  const heard: string[] = [];
  const parts: Partial<TaskTakeDeskParts> = {
    store: { end: async () => ({ kind: "ended", task: { id: "a", status } }) } as never,
    tally: { ended: (as: string) => heard.push(`ended ${as}`) } as never,
    over: () => heard.push("over"),
    madeRoom: () => heard.push("room"),
    wake: () => heard.push("something is due"),
  };
  const desk = new TaskTakeDesk(parts as TaskTakeDeskParts);
  await desk.completeTask("a" as never, { sendId: "b" as never, output: null }, SOMEBODY);
  expect(heard).toEqual(told);
});
