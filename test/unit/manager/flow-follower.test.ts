import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FlowFollower } from "../../../services/observer-manager/src/operations/flows/flow-follower.ts";
import type { FlowFollowStore } from "../../../services/observer-manager/src/operations/flows/flow-store.ts";

/** Ends that wait to be followed up, each with when it was noted. */
class Ends implements FlowFollowStore {
  noted: number[] = [];
  /** For how long each has waited, in ms. */
  readonly waited: number[] = [];

  hasWork = async () => this.noted.length > 0;
  cancelSome: FlowFollowStore["cancelSome"] = async () => undefined;
  forget = async () => 0;

  async follow(): ReturnType<FlowFollowStore["follow"]> {
    const ends = this.noted.splice(0);
    this.waited.push(...ends.map((atMs) => performance.now() - atMs));
    return { ends: ends.length, unlocked: 0, cancelled: [], over: [] };
  }
}

const MINUTES = 5;

describe("who follows ends of tasks up", () => {
  let store: Ends;
  let follower: FlowFollower;

  beforeEach(() => {
    vi.useFakeTimers();
    store = new Ends();
    const nothing = () => undefined;
    follower = new FlowFollower({
      store,
      unlocked: nothing,
      tasksOver: nothing,
      flowsOver: nothing,
      cancelled: nothing,
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    });
  });

  afterEach(async () => {
    const stopped = follower.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    await stopped;
    vi.useRealTimers();
  });

  /** An end each second, of which it is told. */
  async function endEachSecond(): Promise<void> {
    follower.start();
    for (let second = 0; second < MINUTES * 60; second += 1) {
      store.noted.push(performance.now());
      follower.wake();
      await vi.advanceTimersByTimeAsync(1_000);
    }
  }

  const followsAllAtOnce = () => {
    expect(store.waited).toHaveLength(MINUTES * 60);
    expect(Math.max(...store.waited)).toBeLessThan(100);
  };

  it("does so while a flow cannot be cancelled, and tries that again", async () => {
    const cancelSome = vi.fn(() => Promise.reject(new Error("broken")));
    store.cancelSome = cancelSome;
    await endEachSecond();
    followsAllAtOnce();
    expect(cancelSome.mock.calls.length).toBeGreaterThan(MINUTES * 50);
    expect(cancelSome.mock.calls.length).toBeLessThanOrEqual(MINUTES * 60 + 1);
  });
});
