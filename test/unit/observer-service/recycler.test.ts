import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Blame } from "../../../services/observer-service/src/keeper/slots/blame/blame.ts";
import type { Placed } from "../../../services/observer-service/src/keeper/slots/placement/placed.ts";
import { Recycler } from "../../../services/observer-service/src/keeper/slots/placement/recycler.ts";
import type { SlotProcess } from "../../../services/observer-service/src/keeper/slots/process/slot-process.ts";
import { newSlot, type Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("who settles, or is told to end, while others are moved before him is not moved", () => {
  const moved: number[] = [];
  const recycler = new Recycler({
    log: createLog("silent"),
    blame: undefined as never,
    history: undefined as never,
    retire: () => undefined,
    endSlot: () => expect.fail("it is not empty"),
    mayEmptyOne: () => true,
    prepareFor: () => () => true,
  });
  const placed = Array.from({ length: 27 }, (_, id) => {
    const host = { onMoved: () => moved.push(id) };
    return { id, host, run: {}, cause: undefined, isOver: false } as unknown as Placed;
  });
  recycler.dissolve({ process: { pid: 1 } } as Slot, placed);
  expect(moved).toHaveLength(20);
  (placed[22] as Placed).isOver = true;
  (placed[23] as Placed).cause = { kind: "stopped" };
  vi.advanceTimersByTime(50);
  expect(moved.slice(20)).toEqual([20, 21, 24, 25, 26]);
});

test("who is alone in its slot is judged by what the slot takes without the garbage of those who have ended", () => {
  const send = vi.fn();
  const endSlot = vi.fn();
  const recycler = new Recycler({
    log: createLog("silent"),
    blame: { happensByItself: () => false } as never,
    history: undefined as never,
    retire: () => expect.fail("it has nobody to move"),
    endSlot,
    mayEmptyOne: () => true,
    prepareFor: () => () => true,
  });
  const slot = newSlot({ pid: 1, send } as unknown as SlotProcess, { kind: "shared" }, Number.POSITIVE_INFINITY);
  slot.onlyObserver = "o";
  const only = { id: 1, run: { runId: "r", start: { observerId: "o" } } } as unknown as Placed;
  const look = (bytes: number) => recycler.recycle(slot, { bytes, limitBytes: 100, isFar: bytes > 130 }, [only]);
  for (const _ of ["once", "and again, much later"]) {
    look(110);
    vi.advanceTimersByTime(60_000); // it took less meanwhile: nobody was told
  }
  expect(send.mock.calls).toEqual([[{ kind: "collect" }], [{ kind: "collect" }]]);
  expect(endSlot).not.toHaveBeenCalled();
  look(110);
  vi.advanceTimersByTime(1_000);
  look(110);
  expect(endSlot.mock.calls).toMatchObject([[slot, { kind: "culprit", runId: "r" }]]);
  slot.collectedAtMs = Number.NEGATIVE_INFINITY;
  look(140);
  expect(endSlot).toHaveBeenCalledTimes(2); // nobody waits for so much
});

describe("who is alone in a slot in which others have been", () => {
  const blame = new Blame(createLog("silent"), () => undefined);
  const endSlot = vi.fn();
  const recycler = new Recycler({
    log: createLog("silent"),
    blame,
    history: { noteRecycled: () => undefined },
    retire: (slot) => void (slot.isRetired = true),
    endSlot,
    mayEmptyOne: () => true,
    prepareFor: () => () => true,
  });
  const moved = vi.fn();
  beforeEach(() => void vi.clearAllMocks());

  /** One that has grown too far to ask for its garbage, with this one alone in it. */
  function growsWith(observerId: string, onlyObserver: string | undefined, more: object = {}): void {
    const slot = newSlot({ pid: 1, send: moved } as unknown as SlotProcess, { kind: "shared" }, Number.POSITIVE_INFINITY);
    Object.assign(slot, { hasRun: true, onlyObserver, collectedAtMs: performance.now() });
    const only = { id: 1, run: { runId: "r", start: { observerId, type: "any" }, ...more }, host: { onMoved: moved } };
    recycler.recycle(slot, { bytes: 110, limitBytes: 100, isFar: false }, [only as unknown as Placed]);
  }

  test("is moved to one of its own, as they may have left what grew; and is guilty where that grows, too", () => {
    growsWith("a", undefined);
    expect(moved).toHaveBeenCalledTimes(1);
    expect(endSlot).not.toHaveBeenCalled();
    expect(blame.groupOf("a")?.members).toEqual(["a"]);
    growsWith("a", "a");
    expect(endSlot.mock.calls).toMatchObject([[{}, { kind: "culprit", runId: "r" }]]);
  });

  test("is guilty the second time, where there was no slot of its own to be had", () => {
    growsWith("b", undefined);
    growsWith("b", undefined);
    expect(endSlot.mock.calls).toMatchObject([[{}, { kind: "culprit", runId: "r" }]]);
  });

  test("is kept by itself for an hour: what leaks slowly needs longer than ten minutes to show it", () => {
    growsWith("slow", undefined);
    vi.advanceTimersByTime(59 * 60_000);
    growsWith("slow", undefined); // its slot was shared again
    expect(endSlot.mock.calls).toMatchObject([[{}, { kind: "culprit", runId: "r" }]]);
    growsWith("slower", undefined);
    vi.advanceTimersByTime(61 * 60_000);
    expect(blame.isByItself("slower")).toBe(false);
  });

  test("is ended where it is a call for many: that costs none of them, and each goes on alone", () => {
    growsWith("call", undefined, { members: [] });
    expect(endSlot.mock.calls).toMatchObject([[{}, { kind: "culprit", runId: "r" }]]);
    expect(blame.groupOf("call")).toBeUndefined();
  });

  test("is suspected of nothing that happens to slots in which nothing has run, too", () => {
    growsWith("c", undefined);
    blame.noteByItself("growth");
    expect(blame.groupOf("c")).toBeUndefined();
  });
});
