import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { SlotProcess } from "../../../services/observer-service/src/keeper/slots/process/slot-process.ts";
import { newSlot, type Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { ownMemoryBytes } from "../../../services/observer-service/src/keeper/slots/slot-memory.ts";
import { SlotWatch } from "../../../services/observer-service/src/keeper/slots/supply/slot-watch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** This process in a slot's place, which takes twice of what one may. @param loadedBytes what it took when it had loaded */
function isFoundOver(loadedBytes: number): boolean {
  const { pid } = process;
  const slot = {
    process: { pid, isKilled: false },
    purpose: { kind: "shared" },
    isLoaded: true,
    loadedBytes,
    loadedDescriptors: 0,
  } as Slot;
  const onOverLimit = vi.fn();
  const parts = { slots: new Set([slot]), memoryBytes: ownMemoryBytes(pid) / 2, silentLimitMs: 0, count: 1 };
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

const MIB = 2 ** 20;

describe("what there is room for while the folder is loaded again", () => {
  /** Of no process: it takes what it is said to have told. */
  const slotOf = (kind: "shared" | "spare", mib: number, more: Partial<Slot> = {}): Slot =>
    Object.assign(newSlot({ pid: 2 ** 30, isKilled: false } as SlotProcess, { kind }, Number.POSITIVE_INFINITY), {
      ...{ isLoaded: true, toldMemoryBytes: mib * MIB, ...more },
    });
  const lookAt = (slots: readonly Slot[], { count = 2, leaving = 1 } = {}) => {
    const hooks = { onOverLimit: () => undefined, onFrozen: () => undefined };
    const parts = { slots: new Set([slotOf("spare", 30), ...slots]), memoryBytes: 100 * MIB, silentLimitMs: 0, count };
    const { usedBytes, limitBytes } = new SlotWatch({ ...parts, ...hooks }).memory(() => leaving);
    return { used: usedBytes / MIB, limit: limitBytes / MIB };
  };
  const memoryOf = (...slots: Slot[]) => lookAt(slots);
  const many = (length: number, mib: number, more: Partial<Slot> = {}) =>
    Array.from({ length }, () => slotOf("shared", mib, more));
  const old = slotOf("shared", 70, { isOld: true });

  test("is what the slots have that come: those that go bring along what runs in them, and no more", () => {
    const loading = slotOf("shared", 0, { isLoaded: false });
    expect(memoryOf(old, slotOf("shared", 30), loading)).toEqual({ used: 70, limit: 200 });
  });

  test("is not less where old ones have the places of those that are to come", () => {
    const other = slotOf("shared", 70, { isOld: true });
    expect(memoryOf(old, other, slotOf("shared", 30))).toEqual({ used: 110, limit: 200 });
    expect(memoryOf(old, slotOf("shared", 30), slotOf("shared", 40))).toEqual({ used: 110, limit: 200 });
  });

  test("is what the newer ones have where old ones stay, and so does what runs in them", () => {
    const staying = many(8, 45, { isOld: true });
    expect(lookAt([...staying, ...many(5, 95)], { count: 8, leaving: 0 })).toEqual({ used: 475, limit: 500 });
    expect(lookAt([...staying, ...many(5, 95)], { count: 8 })).toEqual({ used: 595, limit: 800 });
  });

  test("is less where one that stays has the place, though most of what runs in it goes over", () => {
    expect(lookAt([old, old, slotOf("shared", 30)], { leaving: 0.75 })).toEqual({ used: 60, limit: 100 });
  });

  test("is not less where one that was ended has the place until it is reaped", () => {
    const ended = slotOf("shared", 70, { isOld: true, process: { pid: 2 ** 30, isKilled: true } as SlotProcess });
    expect(lookAt([ended, slotOf("shared", 30)], { leaving: 0 })).toEqual({ used: 70, limit: 200 });
  });

  test("is less where one is missing that none comes for", () => {
    expect(memoryOf(slotOf("shared", 30))).toEqual({ used: 30, limit: 100 });
  });
});
