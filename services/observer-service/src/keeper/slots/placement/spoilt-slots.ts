import type { RunOutcome } from "@unacked/sdk";
import type { Log } from "../../../log.ts";
import { isShared, type Slot } from "../slot.ts";
import type { SlotRoster } from "../supply/slot-roster.ts";
import type { Occupants } from "./occupants.ts";
import type { Placed } from "./placed.ts";
import type { Recycler } from "./recycler.ts";
import type { SlotFailures } from "./slot-failures.ts";

/** How often it looks, as a look costs time for every run. */
const LOOK_EVERY_MS = 1_000;
/**
 * At most one slot is set aside within this time: failures of first attempts alone may make a slot look spoilt, and what spoils one may
 * spoil the next.
 */
const PAUSE_MS = 600_000;

export interface SpoiltSlotsParts {
  readonly log: Log;
  readonly failures: SlotFailures;
  readonly roster: SlotRoster;
  readonly occupants: Pick<Occupants, "in" | "begunIn">;
  readonly recycler: Pick<Recycler, "dissolve">;
  /** The slot takes no more runs, and another takes its place. */
  setAside(slot: Slot, why: string): void;
}

/**
 * Sets slots aside in which handlers fail that are well in others. Receives how handlers have settled. Guarantees: a slot that is set aside
 * takes no more runs and another takes its place; runs that are well in it stay, as they do in one of older code; a run that spoilt it, and
 * goes on, stays only there.
 */
export class SpoiltSlots {
  readonly #parts: SpoiltSlotsParts;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #foundAtMs = Number.NEGATIVE_INFINITY;

  constructor(parts: SpoiltSlotsParts) {
    this.#parts = parts;
  }

  /** A handler has settled, and is no longer in its slot. */
  settled(slot: Slot, placed: Placed, outcome: RunOutcome["outcome"], nowMs = performance.now()): void {
    const { failures } = this.#parts;
    const { cause, run } = placed;
    if (outcome === "completed") return failures.done(slot, run.start);
    // A run that was told to end need not have failed.
    if (cause === undefined ? outcome !== "failed" : cause.kind !== "uncaught") return;
    failures.failed(slot, placed, nowMs);
    if (nowMs - this.#lookedAtMs < LOOK_EVERY_MS || nowMs - this.#foundAtMs < PAUSE_MS) return;
    if (isShared(slot) && failures.haveManyFailed(slot, run.start.type, nowMs)) this.#look(slot, run.start.type, nowMs);
  }

  #look(slot: Slot, type: string, nowMs: number): void {
    const { log, failures, roster, occupants, recycler, setAside } = this.#parts;
    this.#lookedAtMs = nowMs;
    const here = occupants.begunIn(slot);
    if (here.length > 0 && !roster.hasRoomAside) return; // it would only make room for its own replacement
    const others = roster.shared.filter((one) => one !== slot).flatMap((one) => occupants.begunIn(one));
    if (!failures.isSpoilt(slot, type, here, others, nowMs)) return;
    this.#foundAtMs = nowMs;
    const why = `observers or tasks of type ${type} failed in it one after the other, and were well in other slots then: something that ran in it has spoilt it`;
    log.warn(
      { event: "slot-spoilt", slot: slot.process.pid, type, handlers: here.length },
      `a slot takes nothing more: ${why}`,
    );
    for (const before of roster.slots)
      if (before.spoilt !== undefined && !before.isRetired && !before.process.isKilled)
        recycler.dissolve(before, occupants.in(before), "its slot was spoilt, and makes room for another that is");
    setAside(slot, why);
  }
}
