import type { ObserverId } from "@unacked/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Apart } from "../../../services/observer-service/src/keeper/slots/blame/blame.ts";
import { HarmfulTypes } from "../../../services/observer-service/src/keeper/slots/blame/harmful-types.ts";
import { groupOfOne } from "../../../services/observer-service/src/keeper/slots/blame/suspicion.ts";
import { KeptSlots } from "../../../services/observer-service/src/keeper/slots/placement/kept-slots.ts";
import { Occupants } from "../../../services/observer-service/src/keeper/slots/placement/occupants.ts";
import { OldSlots } from "../../../services/observer-service/src/keeper/slots/placement/old-slots.ts";
import type { Placed } from "../../../services/observer-service/src/keeper/slots/placement/placed.ts";
import { Placement } from "../../../services/observer-service/src/keeper/slots/placement/placement.ts";
import { Room } from "../../../services/observer-service/src/keeper/slots/placement/room.ts";
import { SlotFailures } from "../../../services/observer-service/src/keeper/slots/placement/slot-failures.ts";
import { SlotNeeds } from "../../../services/observer-service/src/keeper/slots/placement/slot-needs.ts";
import { newSlot, type Purpose, type Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { SlotRoster } from "../../../services/observer-service/src/keeper/slots/supply/slot-roster.ts";

const CODE = new Map([["any", "1"]]);
/** What the folder has. */
let newest: Map<string, string>;
let roster: SlotRoster;
/** By observer. */
let apart: Map<string, Apart>;
let emptied: Slot[];
let needs: SlotNeeds;
let occupants: Occupants;
let placement: Placement;
let old: OldSlots;
let kept: KeptSlots;
let harmful: HarmfulTypes;
let failures: SlotFailures;
/** What the pool starts for who needs its own. */
let started: Slot | undefined;

/** All long since what they are. */
function slotsOf(limits: { count: number; max: number }, ...kinds: ("shared" | "suspects")[]): Slot[] {
  roster = new SlotRoster(limits);
  apart = new Map();
  emptied = [];
  started = undefined;
  newest = new Map(CODE);
  harmful = new HarmfulTypes();
  failures = new SlotFailures();
  occupants = new Occupants();
  const blame = { apartOf: (id: string) => apart.get(id), clear: () => undefined } as never;
  const recycler = { dissolve: (slot: Slot) => void emptied.push(slot) };
  const share = (slot: Slot) => Object.assign(slot, { purpose: { kind: "shared" } });
  const folder = { prints: newest };
  const stock = { roster, slotFor: () => started, release: share } as never;
  needs = new SlotNeeds(blame, harmful);
  const room = new Room({ roster, blame, occupants, recycler, stuckMs: 0 });
  placement = new Placement({ stock, folder, needs, occupants, failures, room });
  old = new OldSlots({ supply: { roster, folder } as never, needs, occupants, placement, recycler });
  kept = new KeptSlots({ stock, blame, needs, occupants, placement });
  return kinds.map((kind): Slot => {
    const purpose: Purpose = kind === "suspects" ? { kind, group: groupOfOne("other") } : { kind };
    const slot = newSlot({ isKilled: false } as never, purpose, Number.POSITIVE_INFINITY);
    roster.slots.add(slot);
    return Object.assign(slot, { isLoaded: true, prints: CODE, sinceMs: Number.NEGATIVE_INFINITY });
  });
}

const startOf = (observerId: string) => ({ observerId: observerId as ObserverId, type: "any" });
const place = (observerId: string) => placement.place({ id: observerId, run: { start: startOf(observerId) } } as never);

test("suspects who get no slot have one emptied that is more than all should share, as those have become who were suspects", () => {
  const [first, second] = slotsOf({ count: 1, max: 3 }, "shared", "shared", "suspects");
  expect(place("one")).toBe(first);
  apart.set("two", { kind: "suspects", group: groupOfOne("two") });
  expect(place("two")?.purpose.kind).toBe("suspects");
  expect(emptied[0]).toBe(second);
});

test.each([
  [2, "are left alone"],
  [3, "have one emptied"],
])("who gets no slot of its own waits, and suspects who have been calm in %i slots %s", (slots) => {
  const ofSuspects = Array.from({ length: slots }, () => "suspects" as const);
  const [, oldest] = slotsOf({ count: 1, max: slots + 1 }, "shared", ...ofSuspects);
  apart.set("guilty", { kind: "alone", observerId: "guilty" });
  expect(placement.noRoomFor(startOf("guilty"))).toContain("no slot is free");
  expect(emptied).toEqual(slots > 2 ? [oldest] : []);
});

test("of who is in a slot of older code, tasks stay, and who is of a type that is gone, or needs a slot of its own, and whose code has not changed with them", () => {
  const [slot] = slotsOf({ count: 1, max: 9 }, "shared") as [Slot];
  const put = (observerId: string, host: object = { onRenewed: () => undefined }, cause?: object) =>
    placement.place({ id: observerId, host, cause, run: { start: startOf(observerId) } } as never);
  expect(old.leavingPart(slot)).toBe(1);
  put("unchanged");
  expect(old.leavingPart(slot)).toBe(1);
  put("task", {});
  expect(old.leavingPart(slot)).toBe(0);
  newest.set("any", "2");
  expect(old.leavingPart(slot)).toBe(1 / 2);
  put("task that was told to end", {}, { kind: "stopped" });
  put("suspect");
  apart.set("suspect", { kind: "suspects", group: groupOfOne("suspect") });
  expect(old.leavingPart(slot)).toBe(2 / 4);
  newest.clear();
  expect(old.leavingPart(slot)).toBe(1 / 4);
});

test("a slot knows whether one observer alone has ever been in it, as it begins again there", () => {
  const [slot] = slotsOf({ count: 1, max: 1 }, "shared") as [Slot];
  const seen = ["one", "one", "two", "two"].map((id) => {
    place(id);
    return slot.onlyObserver;
  });
  expect(seen).toEqual(["one", "one", undefined, undefined]);
});

test("who waits for the last slot that there may be has that to come, though it is taken by its own wait", () => {
  slotsOf({ count: 1, max: 2 }, "shared");
  needs.isolate([{ type: "any", runsPerSlot: 1 }]);
  const purpose: Purpose = { kind: "own", type: "any" };
  started = newSlot({ isKilled: false } as never, purpose, Number.POSITIVE_INFINITY);
  roster.slots.add(started);
  place("one");
  expect(placement.noRoomFor(startOf("one"))).toBeUndefined();
  expect(placement.noRoomFor(startOf("two"))).toContain("no slot is free");
});

test("tasks of a harmful type share a slot of their own, or go on among all others where there is no room for it, and none waits", () => {
  const [shared] = slotsOf({ count: 1, max: 9 }, "shared");
  for (const task of ["one", "two", "three"]) harmful.note("any", task);
  expect([placement.noRoomFor(startOf("four")), place("four")]).toEqual([undefined, shared]);
  started = newSlot({ isKilled: false } as never, { kind: "own", type: "any" }, Number.POSITIVE_INFINITY);
  Object.assign(started, { isLoaded: true, prints: CODE });
  expect([place("five"), place("six")]).toEqual([started, started]);
});

test("who fails begins again in another slot than it failed in, and behind nobody there, though that is the emptier", () => {
  const [first, second] = slotsOf({ count: 2, max: 9 }, "shared", "shared") as [Slot, Slot];
  const put = (observerId: string) => {
    const placed = { id: observerId, host: {}, isOver: false, run: { start: startOf(observerId) } } as never as Placed;
    placement.place(placed);
    return placed;
  };
  const all = ["one", "two", "three", "four"].map(put);
  expect(all.map(({ slot }) => slot)).toEqual([first, second, first, second]);
  const [one, , three] = all as [Placed, Placed, Placed, Placed];
  for (const failed of [one, three]) {
    occupants.remove(first, failed);
    failures.failed(first, failed);
  }
  expect(put("one").slot).toBe(second);
  expect(put("new").slot).toBe(second); // two have failed there lately
  const beside = { id: "beside", run: { start: startOf("three") } } as never as Placed;
  const other = put("other");
  failures.failed(other.slot as Slot, three);
  expect(placement.placeBehind(beside, other)).toBe(false);
});

test("a plain task whose type only a slot of suspects has is told that it would wait for none", () => {
  const [shared] = slotsOf({ count: 1, max: 9 }, "shared", "suspects");
  expect(placement.noSlotFor(startOf("one"))).toBeUndefined();
  Object.assign(shared as Slot, { prints: new Map([["other", "1"]]) });
  expect(place("one")).toBeUndefined();
  expect(placement.noSlotFor(startOf("one"))).toContain("slot-not-started");
});

test("a slot of suspects in which a harmful type is beside innocents does not become that type's own", () => {
  const [, suspects] = slotsOf({ count: 1, max: 9 }, "shared", "suspects");
  const group = groupOfOne("other");
  apart.set("one", { kind: "suspects", group });
  started = suspects;
  expect(place("one")).toBe(suspects);
  for (const observerId of ["a", "b", "c"]) harmful.note("any", observerId);
  const letGo = () => {
    Object.assign(suspects as Slot, { purpose: { kind: "suspects", group } });
    kept.release(group);
    return suspects?.purpose;
  };
  expect(letGo()).toEqual({ kind: "shared" });
  needs.isolate([{ type: "any", runsPerSlot: 1 }]);
  expect(letGo()).toMatchObject({ kind: "own", type: "any" });
});

test("who waits behind another begins when that has settled", () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  slotsOf({ count: 1, max: 9 }, "shared");
  const [first, next] = ["first", "next"].map((id) => ({ id, run: { start: startOf(id) } }) as unknown as Placed) as [
    Placed,
    Placed,
  ];
  const slot = placement.place(first) as Slot;
  expect(placement.placeBehind(next, first)).toBe(true);
  vi.advanceTimersByTime(60_000);
  occupants.remove(slot, first);
  expect(next.beganMs).toBe(performance.now());
});
