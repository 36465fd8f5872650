import { setTimeout as sleep } from "node:timers/promises";
import { newTaskId, type StartTask } from "@unacked/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Bundle } from "../../../services/observer-manager/src/domain/tasks/bundles.ts";
import {
  TaskDispatcher,
  type TaskDispatcherParts,
} from "../../../services/observer-manager/src/operations/tasks/dispatch/task-dispatcher.ts";

const LONG = "x".repeat(250_000);
const PER_CLAIM = 40; // 10 MB
const POOLS = ["stuck", "other"].map((pool) => ({ pool, workers: 1_000, types: ["t"] }));
/** What the tables say beside a claim: nothing. */
const QUIET = {
  promoteDue: async () => ({ promoted: 0, nextDueInMs: null }),
  servedPools: async () => [],
  paces: async () => [],
  takeCancelsDue: async () => [],
  giveBack: async () => undefined,
};
const log = { info() {}, warn() {}, error() {}, debug() {} } as never;

function started(store: object, sender: object): TaskDispatcher {
  const parts = { store, sender, promoted: () => undefined, isWaitedFor: () => false, log };
  const dispatcher = new TaskDispatcher(parts as unknown as TaskDispatcherParts);
  dispatcher.start();
  return dispatcher;
}

/** Two pools in which ever more waits, and a broker that confirms what is sent to the queue of the first when it is told to. */
function begin() {
  const sent: Record<string, number> = { stuck: 0, other: 0 };
  const confirms: (() => void)[] = [];
  const claim = async (pool: string) => {
    const tasks = Array.from({ length: pool === "stuck" ? PER_CLAIM : 1 }, () => ({
      task: { taskId: newTaskId(), sendId: newTaskId(), pool, type: "t", params: LONG, sends: 1, failures: 0 },
      isFirstSend: true,
      isUnhurt: true,
    }));
    return { tasks, nextRoomInMs: null, keepsWorkers: false, roomAhead: 0, isAll: false };
  };
  const store = {
    claim,
    ...QUIET,
    waitingPools: async () => POOLS,
  };
  const sender = {
    isReady: true,
    ready: async () => undefined,
    async send({ tasks }: Bundle) {
      const { pool } = tasks[0] as StartTask;
      sent[pool] = (sent[pool] ?? 0) + tasks.length;
      if (pool === "stuck") await new Promise<void>((resolve) => confirms.push(resolve));
      return "sent" as const;
    },
    cancel: async () => undefined,
  };
  const dispatcher = started(store, sender);
  const waking = setInterval(() => dispatcher.wake(), 5);
  const confirmAll = () => {
    for (const confirm of confirms.splice(0)) confirm();
  };
  onTestFinished(async () => {
    clearInterval(waking);
    const confirming = setInterval(confirmAll, 5);
    await dispatcher.stop();
    clearInterval(confirming);
  });
  return { sent, confirmAll };
}

test("Of a pool whose queue confirms nothing no more is claimed than 16 MiB of params and one claim; others go on", async () => {
  const { sent, confirmAll } = begin();
  await vi.waitFor(() => expect(sent["other"]).toBeGreaterThan(20), { timeout: 10_000 });
  expect(sent["stuck"]).toBe(2 * PER_CLAIM);
  confirmAll();
  await vi.waitFor(() => expect(sent["stuck"]).toBe(4 * PER_CLAIM), { timeout: 10_000 });
});

test("What a queue does not take is not claimed again at once where there is more than one claim reads", async () => {
  let claims = 0;
  const task = { taskId: newTaskId(), sendId: newTaskId(), pool: "stuck", type: "t", params: "{}", sends: 1, failures: 0 };
  const store = {
    claim: async () => {
      claims += 1;
      const tasks = [{ task, isFirstSend: true, isUnhurt: true }];
      return { tasks, nextRoomInMs: null, keepsWorkers: false, roomAhead: 0, isAll: false, isCut: true };
    },
    outlook: async () => ({ isAnyReady: true, isCancelDue: false, nextDueInMs: null, paces: [], servedPools: [] }),
    ...QUIET,
    waitingPools: async () => POOLS.slice(0, 1),
  };
  const sender = {
    isReady: true,
    ready: async () => undefined,
    send: async () => "not-taken",
    cancel: async () => undefined,
  };
  const dispatcher = started(store, sender);
  onTestFinished(() => dispatcher.stop());
  await sleep(1_500);
  expect(claims).toBeGreaterThan(1);
  expect(claims).toBeLessThan(8);
});
