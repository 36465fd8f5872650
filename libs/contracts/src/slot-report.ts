import { z } from "zod";
import { amount, count, shownText, wallClockMs } from "./bounds.ts";
import { ObserverId, ObserverName } from "./ids.ts";

/**
 * What a slot is for: everybody · nobody yet · suspects of one slot's death · one observer that was found guilty ·
 * observers of a type that asks for slots of its own.
 */
export const SLOT_PURPOSES = ["shared", "spare", "suspects", "alone", "own"] as const;

/**
 * Why a slot ended: an observer did it · nobody can be named · an observer ignored its stop, or all had been told to stop · it
 * had taken too much memory · anything else. One that was not needed any more is no death.
 */
export const SLOT_DEATH_REASONS = ["culprit", "unnamed", "stop", "recycled", "other"] as const;

const slot = {
  pid: count(0),
  // A text, and no list of ours: a later version may know more.
  purpose: shownText(32).describe(`what it is for: ${SLOT_PURPOSES.join(", ")}`),
  runs: count(0).describe("how many observers it runs"),
  memoryBytes: amount.describe("what would be free without it; 0 where the system does not tell"),
  lagMs: amount.describe("by how much its event loop was late at the worst, in the last 10 s"),
};

const death = {
  pid: count(0),
  purpose: slot.purpose,
  end: shownText(64).describe("how its process ended: a signal, or an exit code"),
  reason: shownText(32).describe(`why, as one of ${SLOT_DEATH_REASONS.join(", ")}`),
  why: shownText(500).describe("the same in words, with the observer and its error where that is known"),
  runs: count(0).describe("how many observers began again, or failed, by it"),
};

/** A process of a service in which observers run. */
export const SlotReport = z.object({ ...slot, startedAt: wallClockMs });
export type SlotReport = z.infer<typeof SlotReport>;

/** What became of one that is no more. */
export const SlotDeath = z.object({
  at: wallClockMs,
  ...death,
  culprit: z.object({ id: ObserverId, name: ObserverName }).optional(),
});
export type SlotDeath = z.infer<typeof SlotDeath>;

const Timestamp = z.iso.datetime().describe("ISO 8601, UTC, by the service's clock");

export const SlotView = z.object({ ...slot, startedAt: Timestamp }).meta({ id: "Slot" });
export type SlotView = z.infer<typeof SlotView>;

export const SlotDeathView = z
  .object({
    at: Timestamp,
    ...death,
    culprit: z.object({ id: z.uuid(), name: z.string() }).nullable().describe("the observer that did it, if it is known"),
  })
  .meta({ id: "SlotDeath" });
export type SlotDeathView = z.infer<typeof SlotDeathView>;

/** How much of it a service tells: the rest stands in its log. */
export const MAX_SLOT_REPORTS = 64;
export const MAX_SLOT_DEATHS = 5;
