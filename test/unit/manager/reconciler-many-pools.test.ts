import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Reconciler } from "../../../services/observer-manager/src/operations/observers/reconciler.ts";
import { keptLog } from "../../support/servers/books.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const UNSERVED = Array.from({ length: 400 }, (_, i) => `unserved-${i}`);
const LOOK_MS = 20;

test("Pools that nobody serves hold up no proof in another, and each of them is looked at in its turn", async () => {
  const proofsAtMs: number[] = [];
  const looked = new Set<string>();
  const lookAt = async (pool: string) => {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    looked.add(pool);
    return { queue: { ready: 1, consumers: 0 }, stateQueueDepth: 0 };
  };
  const parts = {
    store: {
      poolsInDoubt: async () => [...UNSERVED, "wanted"],
      sendKnownStarts: async () => 0,
      servicesThatCountOtherwise: async () => [],
    },
    prover: { advance: async () => proofsAtMs.push(performance.now()) > 0, clear: async () => undefined },
    queues: { look: lookAt },
    mayProve: async (pool: string) => pool === "wanted",
    mayMark: () => true,
    isCaughtUp: () => true,
    committed: () => undefined,
    log: keptLog(),
  };
  const reconciler = new Reconciler(parts as never);
  reconciler.start();
  await vi.advanceTimersByTimeAsync(20_000);
  void reconciler.stop();
  const waits = proofsAtMs.slice(1).map((atMs, i) => atMs - (proofsAtMs[i] as number));
  expect(proofsAtMs.length).toBeGreaterThan(5);
  expect(Math.max(...waits)).toBeLessThan(2_000);
  expect(looked.size).toBe(UNSERVED.length);
});
