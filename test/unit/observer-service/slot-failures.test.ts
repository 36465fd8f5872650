import { beforeEach, expect, test } from "vitest";
import { type Begun, SlotFailures } from "../../../services/observer-service/src/keeper/slots/placement/slot-failures.ts";
import type { Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";

const [SICK, WELL] = [{}, {}] as [Slot, Slot];
const begun = (observerId: string, beganMs = 0, type = "any"): Begun => ({ run: { start: { observerId, type } }, beganMs });
const many = (name: string, beganMs = 0): Begun[] => Array.from({ length: 8 }, (_, i) => begun(`${name}-${i}`, beganMs));

let failures: SlotFailures;
beforeEach(() => void (failures = new SlotFailures()));

test("who fails soon counts for some that run there, who has run for long for one, and half of it after ten seconds", () => {
  for (const one of ["a", "b"]) failures.failed(SICK, begun(one), 1_000);
  expect([failures.loadIn(SICK, "new", 1_000), failures.loadIn(WELL, "new", 1_000)]).toEqual([20, 0]);
  expect(failures.loadIn(SICK, "new", 11_000)).toBe(10);
  expect(failures.loadIn(SICK, "new", 600_000)).toBe(0);
  failures.failed(WELL, begun("c"), 3_600_000);
  expect(failures.loadIn(WELL, "new", 3_600_000)).toBe(1);
});

test("the slot in which one failed last counts for a hundred more to it, until it is well or that slot is gone", () => {
  const added = (slot: Slot, observerId: string) => failures.loadIn(slot, observerId, 600_000);
  failures.failed(SICK, begun("a"), 0);
  expect([added(SICK, "a"), added(WELL, "a"), added(SICK, "b")]).toEqual([100, 0, 0]);
  failures.failed(WELL, begun("a"), 0);
  expect([added(SICK, "a"), added(WELL, "a")]).toEqual([0, 100]);
  failures.done(WELL, begun("a").run.start);
  expect(added(WELL, "a")).toBe(0);
  failures.failed(SICK, begun("a"), 0);
  failures.forget(SICK);
  expect(added(SICK, "a")).toBe(0);
});

/** These fail one after the other. */
function fail(slot: Slot, all: readonly Begun[], nowMs = 1_000): void {
  for (const one of all) failures.failed(slot, one, nowMs);
}
const isSpoilt = (elsewhere: Begun[], nowMs = 5_000, here: Begun[] = []) =>
  failures.isSpoilt(SICK, "any", here, elsewhere, nowMs);

test("a slot is spoilt in which many fail that begin, and in others they run", () => {
  fail(SICK, many("a"));
  expect(isSpoilt(many("a", 1_500))).toBe(true);
  expect(isSpoilt(many("a", 3_000))).toBe(false); // that is not known yet
  expect(isSpoilt(many("a", 500))).toBe(false); // these were there before, when it was well
  expect(isSpoilt(many("a", 1_500).map(({ beganMs }, i) => begun(`b-${i}`, beganMs, "other")))).toBe(false);
});

test("or in which tasks fail that complete in others: half of them, and not others of their type", () => {
  fail(SICK, many("a"));
  for (const { run } of many("b")) failures.done(WELL, run.start);
  for (const { run } of many("a").slice(0, 3)) failures.done(WELL, run.start);
  expect(isSpoilt(many("b", 1_500))).toBe(false);
  for (const { run } of many("a").slice(3, 4)) failures.done(WELL, run.start);
  expect(isSpoilt([])).toBe(true);
});

test("not where they failed while others failed elsewhere as well, as when what they speak to was down", () => {
  fail(SICK, many("a"));
  fail(WELL, many("b"));
  for (const { run } of many("a")) failures.done(WELL, run.start);
  expect(isSpoilt([])).toBe(false);
});

test("nor where a minute lies between two of them", () => {
  fail(SICK, many("a").slice(0, 7));
  fail(SICK, many("a").slice(7), 61_001);
  expect(isSpoilt(many("a", 62_000), 70_000)).toBe(false);
});

test("but not where they fail everywhere: their code is bad, or what they speak to is down", () => {
  fail(SICK, many("a"));
  fail(WELL, many("a"));
  expect(isSpoilt(many("b", 1_500))).toBe(false);
});

test("nor by one that fails again and again, by few, or by some that had run for long", () => {
  for (let times = 0; times < 100; times += 1) fail(SICK, [begun("a")]);
  expect(isSpoilt(many("b", 1_500))).toBe(false);
  fail(SICK, many("c"), 60_000);
  expect(isSpoilt(many("c", 60_000), 70_000)).toBe(false);
});

test("nor where one is well that has begun there since, or has completed there", () => {
  fail(SICK, many("a"));
  expect(isSpoilt(many("a", 1_500), 5_000, [begun("c", 1_500)])).toBe(false);
  expect(isSpoilt(many("a", 1_500))).toBe(false); // they are counted from the start again
  fail(SICK, many("a"));
  failures.done(SICK, begun("c").run.start);
  expect(isSpoilt(many("a", 1_500))).toBe(false);
});
