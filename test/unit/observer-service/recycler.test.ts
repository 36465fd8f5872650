import { afterEach, beforeEach, expect, test, vi } from "vitest";
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
  const only = { id: 1, run: { runId: "r", start: {} } } as unknown as Placed;
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
