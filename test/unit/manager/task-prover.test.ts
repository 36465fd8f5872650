import type { TaskId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  type TaskMarkers,
  TaskProver,
  type TaskProverParts,
  type TaskSession,
} from "../../../services/observer-manager/src/operations/tasks/task-prover.ts";
import { keptLog } from "../../support/servers/books.ts";

const ID = "0198c000-0000-7000-8000-000000000001" as TaskId;
const NOBODY: TaskSession[] = [];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const markers: TaskMarkers = {
  writableForMs: 60_000,
  sendMarker: () => expect.fail("nobody would see it"),
  ask: () => expect.fail("there is nobody"),
  lives: async () => false,
  queue: async () => ({ ready: 1, consumers: 0 }),
};

function proverOf(store: Partial<TaskProverParts["store"]>, told: TaskId[][]): TaskProver {
  const all: TaskProverParts["store"] = {
    poolsInDoubt: async () => [{ pool: "default", isUrgent: true }],
    provenPools: async () => [],
    forgetOthers: async () => undefined,
    find: async () => undefined,
    sessions: async () => NOBODY,
    begin: () => expect.fail("nobody could answer"),
    asked: async () => undefined,
    drop: async () => undefined,
    conclude: () => expect.fail("nothing was proven"),
    endAbandoned: async () => ({ ready: 0, cancelled: [] }),
    ...store,
  };
  return new TaskProver({
    store: all,
    markers,
    isCaughtUp: () => true,
    wake: () => undefined,
    over: (tasks) => void told.push(tasks),
    log: keptLog(),
  });
}

test("What was cancelled on a service that is gone is over, also where no other service of its pool lives", async () => {
  const told: TaskId[][] = [];
  const prover = proverOf({ endAbandoned: async () => ({ ready: 0, cancelled: [ID] }) }, told);
  prover.start();
  await vi.advanceTimersByTimeAsync(2_500);
  prover.stop();
  expect(told).toEqual([[ID]]);
});

test("Where nothing is urgent nobody is looked for who is gone", async () => {
  const told: TaskId[][] = [];
  const poolsInDoubt = async () => [{ pool: "default", isUrgent: false }];
  const prover = proverOf({ poolsInDoubt, endAbandoned: () => expect.fail("it is asked for nothing") }, told);
  prover.start();
  await vi.advanceTimersByTimeAsync(10_000);
  prover.stop();
  expect(told).toEqual([]);
});
