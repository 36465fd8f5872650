import type { Blame } from "../blame/blame.ts";
import type { SlotRoster } from "../supply/slot-roster.ts";
import type { Occupants } from "./occupants.ts";
import type { Recycler } from "./recycler.ts";

/** The slowest culprit blocks its slot, is watched for STUCK_MS, and does not answer. */
const CALM_MS = 8_000;

export interface RoomParts {
  readonly roster: SlotRoster;
  readonly blame: Pick<Blame, "clear">;
  readonly occupants: Occupants;
  readonly recycler: Pick<Recycler, "dissolve">;
  readonly stuckMs: number;
}

/** Makes room for runs that need a slot of their own, where there may be no more: a slot that others need less is emptied. */
export class Room {
  readonly #parts: RoomParts;
  readonly #calmAfterMs: number;

  constructor(parts: RoomParts) {
    this.#parts = parts;
    this.#calmAfterMs = CALM_MS + 2 * parts.stuckMs;
  }

  /**
   * Slots of former suspects, or of runs kept alone, are shared later, so there may be more than there should be: one goes if its
   * place is needed.
   */
  makeOfSurplus(): void {
    const { roster, occupants, recycler } = this.#parts;
    const [least] = roster.surplus.toSorted((a, b) => occupants.countIn(a) - occupants.countIn(b));
    if (least !== undefined) recycler.dissolve(least, occupants.in(least));
  }

  /** If their place is needed, suspects whose slot has lived long enough are cleared, and begin again among the others. */
  makeOfCalm(): void {
    const { roster, blame, occupants, recycler } = this.#parts;
    const [calm] = roster.suspected.filter(({ sinceMs }) => performance.now() - sinceMs > this.#calmAfterMs);
    if (calm?.purpose.kind !== "suspects" || roster.isOneGoing) return;
    blame.clear(calm.purpose.group);
    recycler.dissolve(calm, occupants.in(calm));
  }
}
