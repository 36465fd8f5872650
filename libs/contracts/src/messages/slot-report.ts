import { z } from "zod";
import { amount, count, shownText, wallClockMs } from "../bounds.ts";
import { ObserverId, ObserverName, TaskId, TypeName } from "../ids.ts";

/**
 * What a slot is for. `shared`: everybody · `spare`: nobody yet · `suspects`: suspects of one slot's death · `alone`: one
 * observer that was found guilty · `own`: observers of a type that asks for slots of its own.
 */
export const SLOT_PURPOSES = ["shared", "spare", "suspects", "alone", "own"] as const;

/**
 * Why a slot ended. `culprit`: an observer did it · `unnamed`: nobody can be named · `stop`: an observer ignored its stop, or
 * all had been told to stop · `recycled`: it had taken too much memory · `other`: anything else. A slot that is no longer
 * needed is not counted as a death.
 */
export const SLOT_DEATH_REASONS = ["culprit", "unnamed", "stop", "recycled", "other"] as const;

/** How many of these a service sends. All are in its log. */
export const MAX_SLOT_REPORTS = 64;
export const MAX_SLOT_DEATHS = 5;

const slot = {
  pid: count(0),
  // A text, not an enum of ours, as a later version may know more.
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

/** How and why a slot ended. */
export const SlotDeath = z.object({
  at: wallClockMs,
  ...death,
  /** The observer that did it. A task is not put here, as its id is no observer's name and 0.1.0 could not read it. */
  culprit: z.object({ id: ObserverId, name: ObserverName }).optional(),
  /** The task that did it. Without an id it was one call for many tasks of that type. */
  culpritTask: z.object({ id: TaskId.optional(), type: TypeName }).optional(),
});
export type SlotDeath = z.infer<typeof SlotDeath>;

/** The last deaths. They are for people: an unreadable one is left out, rather than the sign of life that it came with. */
export const SlotDeaths = z.preprocess(readableDeaths, z.array(SlotDeath).max(MAX_SLOT_DEATHS));

/** How many are looked at. A longer list, which nobody honest would send, is refused by its length. */
const MAX_LOOKED_AT = 100;

function readableDeaths(told: unknown): unknown {
  return Array.isArray(told) && told.length <= MAX_LOOKED_AT ? told.filter((one) => SlotDeath.safeParse(one).success) : told;
}

const Timestamp = z.iso.datetime().describe("ISO 8601, UTC, by the service's clock");

export const SlotView = z.object({ ...slot, startedAt: Timestamp }).meta({ id: "Slot" });
export type SlotView = z.infer<typeof SlotView>;

export const SlotDeathView = z
  .object({
    at: Timestamp,
    ...death,
    culprit: z.object({ id: z.uuid(), name: z.string() }).nullable().describe("the observer that did it, if it is known"),
    culpritTask: z
      .object({ id: z.guid().nullable().describe("null: one call for many tasks of the type"), type: z.string() })
      .nullable()
      .describe("the task that did it, if it was one and that is known"),
  })
  .meta({ id: "SlotDeath" });
export type SlotDeathView = z.infer<typeof SlotDeathView>;
