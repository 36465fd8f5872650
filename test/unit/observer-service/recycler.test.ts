import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Placed } from "../../../services/observer-service/src/keeper/slots/placed.ts";
import { Recycler } from "../../../services/observer-service/src/keeper/slots/recycler.ts";
import type { Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
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
