import { MAX_FAILURES_OF_TYPE, type TaskId } from "@unacked/contracts";
import { expect, it } from "vitest";
import { TaskFailureDesk } from "../../../services/observer-manager/src/operations/tasks/desk/task-failure-desk.ts";
import type { FailedTask } from "../../../services/observer-manager/src/operations/tasks/desk/task-failure-store.ts";
import { SOMEBODY } from "../../support/servers/books.ts";

it("A retry of a group looks through a million failures of its type, and says more where there may be older ones", async () => {
  const wet: FailedTask = { id: "t" as TaskId, createdAtMicros: "0", name: "Error", message: "wet" };
  let looked = 0;
  const errorsOf = async (_type: string, limit: number) => {
    looked += limit;
    return Array.from({ length: limit }, () => wet);
  };
  const desk = new TaskFailureDesk({
    ...{ store: { errorsOf } as never, types: {} as never, tasks: {} as never },
    wake() {},
  });
  const asked = { type: "paint", group: "Error: no brush", dryRun: false };
  expect(await desk.retryTaskFailures(asked, SOMEBODY)).toEqual({ matched: 0, accepted: 0, more: true });
  expect(looked).toBe(MAX_FAILURES_OF_TYPE);
});
