import { expect, test } from "vitest";
import { groupOfOne } from "../../../services/observer-service/src/keeper/slots/blame/suspicion.ts";
import { newSlot, type OwnPurpose, type Purpose } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { SlotRoster } from "../../../services/observer-service/src/keeper/slots/supply/slot-roster.ts";

/* For whom the last places are. */

const ofSuspects = (): OwnPurpose => ({ kind: "suspects", group: groupOfOne("a") });
const OWN: OwnPurpose = { kind: "own", type: "large" };
const ALONE: OwnPurpose = { kind: "alone", observerId: "a", type: "any" };

function rosterOf(limits: { count: number; max: number }, ...purposes: (Purpose["kind"] | OwnPurpose)[]): SlotRoster {
  const roster = new SlotRoster(limits);
  for (const kind of purposes) {
    const purpose = typeof kind === "object" ? kind : kind === "suspects" ? ofSuspects() : ({ kind } as Purpose);
    roster.slots.add(newSlot({ isKilled: false } as never, purpose, Number.POSITIVE_INFINITY));
  }
  return roster;
}

test.each([OWN, ALONE])("two are kept for suspects, the spare one of them or not: $kind", (purpose) => {
  const limits = { count: 2, max: 6 };
  expect(rosterOf(limits, "shared", "shared", OWN, "spare").hasRoomFor(purpose)).toBe(true);
  expect(rosterOf(limits, "shared", "shared", OWN, OWN, "spare").hasRoomFor(purpose)).toBe(false);
  expect(rosterOf(limits, "shared", "shared", OWN, OWN, "spare").hasRoomFor(ofSuspects())).toBe(true);
});

test.each([OWN, ALONE])("which suspects have are not kept twice: $kind", (purpose) => {
  const limits = { count: 2, max: 8 };
  const ofOthers = ["shared", "shared", "suspects", "suspects", "suspects"] as const;
  expect(rosterOf(limits, ...ofOthers, OWN, OWN, "spare").hasRoomFor(purpose)).toBe(true);
  expect(rosterOf(limits, ...ofOthers, OWN, OWN, OWN).hasRoomFor(purpose)).toBe(false);
  expect(rosterOf(limits, ...ofOthers).hasMoreSuspected).toBe(true);
  expect(rosterOf(limits, "shared", "suspects", "suspects").hasMoreSuspected).toBe(false);
});

test.each([OWN, ALONE])("but where there are no more than these, one may have one all the same: $kind", (purpose) => {
  const limits = { count: 2, max: 4 };
  expect(rosterOf(limits, "shared", "shared", "spare").hasRoomFor(purpose)).toBe(true);
  expect(rosterOf(limits, "shared", "shared", OWN, "spare").hasRoomFor(purpose)).toBe(false);
});

test("suspects leave one that all share, or a place for it", () => {
  const limits = { count: 2, max: 6 };
  const others = [OWN, OWN, "suspects", "suspects"] as const;
  expect(rosterOf(limits, "shared", ...others).mayStart(ofSuspects())).toBe(true);
  expect(rosterOf(limits, ...others, "suspects").mayStart(ofSuspects())).toBe(false);
  expect(rosterOf(limits, ...others, "suspects", "spare").hasRoomFor(ofSuspects())).toBe(false);
});

test("of those that all share, one is enough as long as suspects lack the second of theirs", () => {
  const limits = { count: 2, max: 4 };
  expect(rosterOf(limits, "shared", OWN).sharedLimit).toBe(4);
  expect(rosterOf(limits, "shared", OWN, "suspects").sharedLimit).toBe(3);
  expect(rosterOf(limits, OWN, "suspects").sharedLimit).toBe(4);
  expect(rosterOf(limits, "shared", "suspects", "suspects").sharedLimit).toBe(4);
});
