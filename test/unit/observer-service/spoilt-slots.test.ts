import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HarmfulTypes } from "../../../services/observer-service/src/keeper/slots/blame/harmful-types.ts";
import { Occupants } from "../../../services/observer-service/src/keeper/slots/placement/occupants.ts";
import type { Placed } from "../../../services/observer-service/src/keeper/slots/placement/placed.ts";
import { Placement } from "../../../services/observer-service/src/keeper/slots/placement/placement.ts";
import { SlotFailures } from "../../../services/observer-service/src/keeper/slots/placement/slot-failures.ts";
import { SlotNeeds } from "../../../services/observer-service/src/keeper/slots/placement/slot-needs.ts";
import { SpoiltSlots } from "../../../services/observer-service/src/keeper/slots/placement/spoilt-slots.ts";
import { newSlot, type Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { SlotRoster } from "../../../services/observer-service/src/keeper/slots/supply/slot-roster.ts";

/* Two good slots, and handlers that fail wherever they begin: their code is bad, or their input. */

let occupants: Occupants;
let placement: Placement;
let spoilt: SpoiltSlots;
let found: string[];
let looks: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  [found, looks] = [[], 0];
  const prints = new Map([["any", "1"]]);
  const roster = new SlotRoster({ count: 2, max: 9 });
  const failures = new SlotFailures();
  const recycler = { dissolve: () => undefined } as never;
  const stock = { roster } as never;
  const folder = { prints };
  const needs = new SlotNeeds({ apartOf: () => undefined }, new HarmfulTypes());
  occupants = new Occupants();
  placement = new Placement({ stock, folder, needs, occupants, failures, room: {} as never });
  for (const pid of [1, 2]) {
    const slot = newSlot({ isKilled: false, pid } as never, { kind: "shared" }, Number.POSITIVE_INFINITY);
    roster.slots.add(Object.assign(slot, { isLoaded: true, prints }));
  }
  const log = { warn: () => undefined } as never;
  const look = (list: (slot: Slot) => Placed[]) => (slot: Slot) => {
    looks += 1;
    return list(slot);
  };
  const counted = {
    in: look((slot) => occupants.in(slot)),
    begunIn: look((slot) => occupants.begunIn(slot)),
  };
  const setAside = (_: Slot, why: string) => void found.push(why);
  spoilt = new SpoiltSlots({ log, failures, roster, occupants: counted, recycler, setAside });
});
afterEach(() => void vi.useRealTimers());

let last = 0;
function begin(observerId: string): Placed {
  const placed = { id: (last += 1), run: { start: { observerId, type: "any" } } } as unknown as Placed;
  placement.place(placed);
  return placed;
}
function settle(placed: Placed, outcome: "completed" | "failed"): number {
  const { slot } = placed as { slot: Slot };
  occupants.remove(slot, placed);
  spoilt.settled(slot, placed, outcome);
  return slot.process.pid;
}
function run(observerId: string, outcome: "completed" | "failed"): number {
  const placed = begin(observerId);
  vi.advanceTimersByTime(50);
  return settle(placed, outcome);
}

test("a good slot is not found spoilt by some of bad input, a pair of attempts each five minutes, beside others that complete", () => {
  const ranIn = new Map<number, number>();
  for (let bad = 0; bad < 20; bad += 1) {
    for (let times = 0; times < 2; times += 1) {
      run(`bad-${bad}`, "failed");
      vi.advanceTimersByTime(950);
    }
    for (let i = 0; i < 300; i += 1, vi.advanceTimersByTime(950)) {
      const pid = run(`good-${bad}-${i}`, "completed");
      ranIn.set(pid, (ranIn.get(pid) ?? 0) + 1);
    }
  }
  expect(found).toEqual([]);
  expect(Math.min(...ranIn.values())).toBeGreaterThan(2_000); // slots with the same load have their turns
});

test.each([8, 20, 100])("nor by %i that fail again and again, while observers of their type are well", (count) => {
  for (let i = 0; i < 40; i += 1) begin(`well-${i}`);
  const bad = Array.from({ length: count }, (_, i) => ({ name: `bad-${i}`, failed: 0, dueMs: 10_000 + performance.now() }));
  for (let ms = 0; ms < 1_800_000; ms += 500, vi.advanceTimersByTime(500)) {
    if (ms % 10_000 === 0) begin(`late-${ms}`);
    const due = bad.filter(({ dueMs }) => dueMs <= performance.now());
    for (const one of due) {
      one.failed += 1;
      one.dueMs = performance.now() + Math.min(300_000, 1_000 * 2 ** one.failed);
    }
    const begun = due.map(({ name }) => begin(name));
    for (const placed of begun) settle(placed, "failed");
  }
  expect(found).toEqual([]);
});

test("nor is a slot looked at where few have failed, or twice in a second", () => {
  for (let times = 0; times < 100; times += 1, vi.advanceTimersByTime(1_000)) run("one", "failed");
  expect(looks).toBe(0);
  const many = Array.from({ length: 40 }, (_, i) => begin(`bad-${i}`));
  for (const placed of many) settle(placed, "failed");
  expect(looks).toBe(2); // at one, and once at the other beside it
});
