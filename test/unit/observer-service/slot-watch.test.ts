import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { ownMemoryBytes } from "../../../services/observer-service/src/keeper/slots/slot-memory.ts";
import { SlotWatch } from "../../../services/observer-service/src/keeper/slots/slot-watch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** This process in a slot's place, which takes twice of what one may. @param loadedBytes what it took when it had loaded */
function isFoundOver(loadedBytes: number): boolean {
  const { pid } = process;
  const slot = { process: { pid, isKilled: false }, purpose: { kind: "shared" }, isLoaded: true, loadedBytes } as Slot;
  const onOverLimit = vi.fn();
  const parts = { slots: new Set([slot]), memoryBytes: ownMemoryBytes(pid) / 2, silentLimitMs: 0 };
  const watch = new SlotWatch({ ...parts, onOverLimit, onFrozen: () => undefined });
  watch.start();
  vi.advanceTimersByTime(5_000);
  watch.stop();
  return onOverLimit.mock.calls.length > 0;
}

test("What a slot took when it had loaded its files, and nothing ran in it, is no run's doing: it counts for none", () => {
  expect(isFoundOver(0)).toBe(true);
  expect(isFoundOver(ownMemoryBytes(process.pid))).toBe(false);
});
