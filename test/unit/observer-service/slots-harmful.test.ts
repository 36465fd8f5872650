import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { beforeEach, expect, test } from "vitest";
import type { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { openBareHandlers } from "../../support/slots/bare-folder.ts";

const log = createLog("silent");
let handlers: SlotHandlers;
/** What was logged as a warning. */
let warned: string[];

beforeEach(async () => {
  warned = [];
  const own = Object.assign(createLog("silent"), { warn: ({ event }: { event: string }) => void warned.push(event) });
  handlers = await openBareHandlers(["deaf", "any"], { count: 1, max: 9, stopTimeoutMs: 100 }, own);
});

/** How often it was placed, and how often interrupted; it begins again each time. */
function observe(type: string) {
  const start = { observerId: newObserverId(), name: type, type, labels: {}, params: {}, retry: DEFAULT_RETRY };
  const seen = { placed: 0, interrupted: 0 };
  const host = {
    onPlaced: () => void (seen.placed += 1),
    onInterrupted: () => {
      seen.interrupted += 1;
      begin();
    },
  };
  const begin = (): void => void handlers.start(host as never, { start, runId: newRunId(), log } as never);
  begin();
  return seen;
}

/** A task whose time is up and that does not hear it: its slot is ended for it. Resolves when it is. */
function deafTask(): Promise<void> {
  const start = { observerId: newObserverId(), name: "deaf", type: "deaf", labels: {}, params: {}, retry: DEFAULT_RETRY };
  return new Promise((resolve) => {
    const timeIsUp = (): void =>
      attempt.abort({ kind: "uncaught", error: { name: "TaskTimeoutError", message: "its time is up" } });
    const host = {
      onPlaced: () => void setImmediate(timeIsUp), // it may be placed at once
      onStuck: () => undefined,
      onInterrupted: () => resolve(),
    };
    const run = { start, runId: newRunId(), taskAttempt: 1, log };
    const attempt = handlers.start(host as never, run as never);
  });
}

test("Each new task of a type begins among all others and ends their slot first, but only three times", async () => {
  const neighbour = observe("any");
  for (let tasks = 1; tasks <= 6; tasks += 1) {
    await deafTask();
    await eventually(() => expect(neighbour.placed).toBe(neighbour.interrupted + 1));
    expect(neighbour.interrupted).toBe(Math.min(tasks, 3));
  }
  expect(warned.filter((event) => event === "task-type-apart")).toHaveLength(1);
});
