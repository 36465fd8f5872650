import type { Blame } from "../blame/blame.ts";
import type { SuspectGroup } from "../blame/suspicion.ts";
import { isOfUse, type Slot } from "../slot.ts";
import type { SlotStock } from "../supply/slot-stock.ts";
import type { Occupants } from "./occupants.ts";
import type { Placed } from "./placed.ts";
import type { Placement } from "./placement.ts";
import type { SlotNeeds } from "./slot-needs.ts";

export interface KeptSlotsParts {
  readonly stock: Pick<SlotStock, "roster" | "release" | "takeBack">;
  readonly blame: Pick<Blame, "isGuilty" | "acquit" | "groupOf">;
  readonly needs: SlotNeeds;
  readonly occupants: Occupants;
  readonly placement: Pick<Placement, "waiting">;
}

/**
 * Slots that are kept for only some: suspects, a guilty one, a type. Lets them go when nobody needs them any more: then all share the slot,
 * or it ends.
 */
export class KeptSlots {
  readonly #parts: KeptSlotsParts;

  constructor(parts: KeptSlotsParts) {
    this.#parts = parts;
  }

  /** A handler begins. Once a guilty one has been well for long enough, it may run among others again the next time that it starts. */
  begins(placed: Placed): void {
    const { blame } = this.#parts;
    const { observerId, retry } = placed.run.start;
    if (!blame.isGuilty(observerId)) return;
    placed.calmTimer = setTimeout(() => {
      blame.acquit(observerId);
      if (placed.slot !== undefined) this.#letGo(placed.slot);
    }, retry.resetAfterMs);
    placed.calmTimer.unref();
  }

  /** Its last handler is over. */
  left(slot: Slot, { cause, run }: Placed): void {
    if (slot.purpose.kind === "suspects") return this.letGoOfIdle();
    if (slot.purpose.kind !== "alone") return;
    if (run.taskAttempt !== undefined) return this.#letGo(slot); // its next attempt may be elsewhere
    if (cause === undefined || cause.kind === "uncaught") return;
    // It is stopped for good, or on its way elsewhere, so it is no longer kept alone here.
    this.#parts.blame.acquit(run.start.observerId);
    this.#letGo(slot);
  }

  /** Nothing more comes of this observer here: the slot that was kept for its next attempt goes. */
  forget(observerId: string): void {
    const { stock, blame, occupants } = this.#parts;
    blame.acquit(observerId);
    for (const slot of stock.roster.slots) {
      const wasItsOwn = slot.purpose.kind === "alone" && slot.purpose.observerId === observerId;
      if (wasItsOwn && isOfUse(slot) && occupants.countIn(slot) === 0) this.#letGo(slot);
    }
  }

  /** These are suspects no more. */
  release(group: SuspectGroup): void {
    for (const slot of this.#parts.stock.roster.slots)
      if (slot.purpose.kind === "suspects" && slot.purpose.group === group) this.#letGo(slot);
  }

  /** Slots of suspects of whom none runs or waits any more. A suspect still gets a slot again when it starts. */
  letGoOfIdle(): void {
    for (const slot of this.#idleOfSuspects()) this.#letGo(slot);
  }

  /** Slots of a type's own whose run was stopped before they had loaded. */
  takeBackIdle(): void {
    const { stock, occupants, placement } = this.#parts;
    const isAwaited = (slot: Slot) => placement.waiting.some(({ awaits }) => awaits === slot);
    const isIdle = (slot: Slot) => slot.isLoaded && isOfUse(slot) && occupants.countIn(slot) === 0 && !isAwaited(slot);
    const idle = [...stock.roster.slots].filter((slot) => slot.purpose.kind === "own" && isIdle(slot));
    for (const slot of idle) stock.takeBack(slot);
  }

  /** If one of the suspects still runs elsewhere, the slot is kept for it. */
  #idleOfSuspects(): Slot[] {
    const { stock, blame, occupants, placement } = this.#parts;
    const idle = stock.roster.suspected.filter((slot) => slot.isLoaded && occupants.countIn(slot) === 0);
    if (idle.length === 0) return [];
    const all = [...occupants.all(), ...placement.waiting];
    const wanted = new Set(all.map(({ run }) => blame.groupOf(run.start.observerId)));
    return idle.filter(({ purpose }) => purpose.kind === "suspects" && !wanted.has(purpose.group));
  }

  /** The slot is no longer kept for anybody: it is shared, or goes. Runs in it go on, and their type may ask for slots of its own. */
  #letGo(slot: Slot): void {
    const { stock, needs, occupants } = this.#parts;
    // Those of a harmful type may live among all others if need be: innocents are among them.
    const asking = occupants.in(slot).find(({ run }) => needs.asksForOwn(run.start.type));
    const own = asking && needs.ofType(asking.run.start.type);
    if (own === undefined) stock.release(slot, occupants.countIn(slot) === 0);
    else slot.purpose = own;
  }
}
