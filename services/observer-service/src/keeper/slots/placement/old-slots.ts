import type { Slot } from "../slot.ts";
import type { SlotSupply } from "../supply/slot-supply.ts";
import type { Occupants } from "./occupants.ts";
import type { Placement } from "./placement.ts";
import type { Recycler } from "./recycler.ts";
import type { SlotNeeds } from "./slot-needs.ts";

export interface OldSlotsParts {
  readonly supply: Pick<SlotSupply, "roster" | "folder">;
  readonly needs: Pick<SlotNeeds, "of">;
  readonly occupants: Occupants;
  readonly placement: Pick<Placement, "readinessFor">;
  readonly recycler: Pick<Recycler, "dissolve">;
}

/** Slots of older code, and spoilt ones: nothing begins there any more, but what may stay in them stays. */
export class OldSlots {
  readonly #parts: OldSlotsParts;

  constructor(parts: OldSlotsParts) {
    this.#parts = parts;
  }

  /**
   * Runs with unchanged code may stay in a slot of older code, and well ones in a spoilt slot, unless that takes the room of others: then
   * the least loaded slot is emptied.
   */
  makeRoom(): void {
    const { supply, occupants, recycler } = this.#parts;
    if (!supply.roster.isCrowded || supply.roster.isOneGoing) return;
    const [least] = supply.roster.oldShared
      .filter((slot) => this.#mayEmpty(slot))
      .toSorted((a, b) => occupants.countIn(a) - occupants.countIn(b));
    if (least === undefined) return;
    const what =
      least.spoilt === undefined ? "has older code, and makes room for newer" : "was spoilt, and makes room for others";
    recycler.dissolve(least, occupants.in(least), `its slot ${what}`);
  }

  /** Whether it holds only observers whose code has not changed, and other slots can take them. */
  #mayEmpty(slot: Slot): boolean {
    const { supply, occupants, placement } = this.#parts;
    const { prints } = supply.folder;
    return occupants.in(slot).every(({ cause, host, run: { start } }) => {
      const isUnchanged = prints.get(start.type) === slot.prints.get(start.type);
      return cause === undefined && host.onRenewed !== undefined && isUnchanged && placement.readinessFor(start).isReady;
    });
  }

  /**
   * Which part of its runs is told to end, or will begin again among all others. It is all of them if they are observers that others can
   * take, as the slot's place may be needed. A task, a run of a removed type, or one that needs a slot of its own may stay for days, and
   * with it all whose code has not changed.
   */
  leavingPart(slot: Slot): number {
    const { supply, needs, occupants } = this.#parts;
    const { prints } = supply.folder;
    let [all, told, outdated, unchanged] = [0, 0, 0, 0];
    for (const { cause, host, run } of occupants.in(slot)) {
      const { type } = run.start;
      all += 1;
      if (cause !== undefined) told += 1;
      else if (host.onRenewed === undefined || !prints.has(type) || needs.of(run.start) !== undefined) continue;
      else if (prints.get(type) === slot.prints.get(type)) unchanged += 1;
      else outdated += 1;
    }
    const leaving = told + outdated;
    return leaving + unchanged === all ? 1 : leaving / all;
  }
}
