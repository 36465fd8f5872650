import { performance } from "node:perf_hooks"; // the slot's own, which no fake is put in the place of
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SlotProcess } from "../../../services/observer-service/src/keeper/slots/process/slot-process.ts";
import { newSlot, reportOf, type Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { SlotWatch } from "../../../services/observer-service/src/keeper/slots/supply/slot-watch.ts";
import { LagMeter } from "../../../services/observer-service/src/slot/lag-meter.ts";
import type { FromSlot } from "../../../services/observer-service/src/wire/messages.ts";

const MIB = 2 ** 20;
/** Higher than any that Linux gives: of it /proc knows as little as macOS of /proc. */
const NO_PID = 2 ** 30;

const slotThatTold = (kind: "shared" | "spare", toldMib: number): Slot =>
  Object.assign(newSlot({ pid: NO_PID, isKilled: false } as SlotProcess, { kind }, Number.POSITIVE_INFINITY), {
    isLoaded: true,
    toldMemoryBytes: toldMib * MIB,
  });

const real = process.platform;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  Object.defineProperty(process, "platform", { value: real });
});

const watched = (slots: Slot[], more: Partial<ConstructorParameters<typeof SlotWatch>[0]> = {}) => {
  const onOverLimit = vi.fn();
  const parts = {
    slots: new Set(slots),
    memoryBytes: 100 * MIB,
    silentLimitMs: 0,
    count: 2,
    onOverLimit,
    onFrozen: vi.fn(),
    ...more,
  };
  return { watch: new SlotWatch(parts), onOverLimit };
};

test("a slot tells what it takes where there is no /proc, and only there", () => {
  const told = (platform: NodeJS.Platform): FromSlot[] => {
    Object.defineProperty(process, "platform", { value: platform });
    const messages: FromSlot[] = [];
    const meter = new LagMeter(100, (message) => messages.push(message));
    meter.tick(performance.now() + 10_000);
    return messages;
  };
  expect(told("darwin")).toEqual([{ kind: "lag", lagMs: expect.any(Number), memoryBytes: expect.any(Number) }]);
  expect((told("darwin")[0] as { memoryBytes: number }).memoryBytes).toBeGreaterThan(10 * MIB);
  expect(told("linux")).toEqual([{ kind: "lag", lagMs: expect.any(Number) }]);
});

test("what it told is what is reported", () => {
  expect(reportOf(slotThatTold("shared", 40), 3)).toMatchObject({ runs: 3, memoryBytes: 40 * MIB });
  expect(reportOf(slotThatTold("shared", 0), 0).memoryBytes).toBe(0);
});

test("is what its limit is held against, and is over it once", () => {
  const [well, grown, far] = [slotThatTold("shared", 90), slotThatTold("shared", 120), slotThatTold("shared", 140)];
  const { watch, onOverLimit } = watched([well, grown, far]);
  watch.start();
  vi.advanceTimersByTime(1_000);
  watch.stop();
  vi.advanceTimersByTime(10_000);
  expect(onOverLimit.mock.calls).toEqual([
    [grown, { bytes: 120 * MIB, limitBytes: 100 * MIB, isFar: false }],
    [far, { bytes: 140 * MIB, limitBytes: 100 * MIB, isFar: true }],
  ]);
});

test("is what WORKER_COUNT=auto goes by: less what the spare one takes, which runs nothing", () => {
  const { watch } = watched([slotThatTold("spare", 30), slotThatTold("shared", 40), slotThatTold("shared", 90)]);
  expect(watch.memory(() => 1)).toEqual({ usedBytes: 130 * MIB, limitBytes: 200 * MIB, grownBytes: 70 * MIB });
});
