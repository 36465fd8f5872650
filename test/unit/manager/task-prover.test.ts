import type { TaskId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  type TaskMarkers,
  type TaskProof,
  TaskProver,
  type TaskProverParts,
  type TaskSession,
} from "../../../services/observer-manager/src/operations/tasks/upkeep/task-prover.ts";
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

function proverOf(
  store: Partial<TaskProverParts["store"]>,
  told: TaskId[][],
  sendMarker: TaskMarkers["sendMarker"] = markers.sendMarker,
): TaskProver {
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
    markers: { ...markers, sendMarker },
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
  void prover.stop();
  expect(told).toEqual([[ID]]);
});

test("Where nothing is urgent nobody is looked for who is gone", async () => {
  const told: TaskId[][] = [];
  const poolsInDoubt = async () => [{ pool: "default", isUrgent: false }];
  const prover = proverOf({ poolsInDoubt, endAbandoned: () => expect.fail("it is asked for nothing") }, told);
  prover.start();
  await vi.advanceTimersByTimeAsync(10_000);
  void prover.stop();
  expect(told).toEqual([]);
});

test("What runs on a living service is proven in its turn, and sooner where news of it is lost: when a proof would judge all that was sent by then", async () => {
  const begunMs: number[] = [];
  let proof: TaskProof | undefined;
  const prover = proverOf(
    {
      poolsInDoubt: async () => [{ pool: "default", isUrgent: false }],
      sessions: async () => [{ name: `${ID}.1`, isLiving: true, isConsuming: true, hasEndedSince: false }],
      find: async () => proof && { ...proof, beganAgoMs: performance.now() - (begunMs.at(-1) ?? 0) },
      begin: async ({ markerId, services }) => {
        begunMs.push(performance.now());
        proof = { pool: "default", markerId, services, answered: services, seenAgoMs: 1, beganAgoMs: 0, askedAgoMs: 1 };
        return true;
      },
      conclude: async () => {
        proof = undefined;
        return { ready: 0, cancelled: [] };
      },
    },
    [],
    async () => undefined,
  );
  prover.start();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begunMs).toEqual([]);
  const lostMs = performance.now();
  prover.booksAreBehind(["default"]);
  await vi.advanceTimersByTimeAsync(60_000);
  void prover.stop();
  expect(begunMs).toHaveLength(1);
  expect((begunMs[0] ?? 0) - lostMs).toBeGreaterThan(15_000);
  expect((begunMs[0] ?? 0) - lostMs).toBeLessThan(20_000);
});
