import { isOfUse, isShared, type OwnPurpose, type Purpose, type Slot, suits } from "../slot.ts";
import type { SlotFolder } from "../supply/slot-folder.ts";
import type { SlotStock } from "../supply/slot-stock.ts";
import type { Occupants } from "./occupants.ts";
import type { Placed } from "./placed.ts";
import type { Room } from "./room.ts";
import type { SlotFailures } from "./slot-failures.ts";
import type { SlotNeeds, StartedAs } from "./slot-needs.ts";

/** The slots for runs that need none of their own, and for suspects who get none. */
const EVERYBODYS: ReadonlySet<Purpose["kind"]> = new Set(["shared"]);
const OF_SUSPECTS: ReadonlySet<Purpose["kind"]> = new Set(["shared", "suspects"]);

export interface PlacementParts {
  readonly stock: SlotStock;
  readonly folder: Pick<SlotFolder, "prints">;
  readonly needs: SlotNeeds;
  readonly occupants: Occupants;
  readonly failures: SlotFailures;
  readonly room: Pick<Room, "makeOfSurplus" | "makeOfCalm">;
}

/**
 * Decides which handler runs in which slot, and which waits for one: in the least loaded of those that all share, unless it needs one that
 * is not everybody's (slot-needs.ts).
 */
export class Placement {
  readonly #parts: PlacementParts;
  #waiting: Placed[] = [];

  constructor(parts: PlacementParts) {
    this.#parts = parts;
  }

  /** The runs that have no slot yet. */
  get waiting(): readonly Placed[] {
    return this.#waiting;
  }

  /** @returns its slot; undefined: it waits until one has loaded, or may be started */
  place(placed: Placed): Slot | undefined {
    const slot = this.#slotFor(placed.run.start);
    placed.awaits = slot;
    if (slot === undefined || !slot.isLoaded) return void this.#waiting.push(placed);
    this.#parts.occupants.put(placed, slot);
    return slot;
  }

  /** Puts it behind another run, if that is in a shared slot, and this one may be, too. @returns whether it is there */
  placeBehind(placed: Placed, other: Placed): boolean {
    const { needs, failures, occupants } = this.#parts;
    const { slot } = other;
    const { start } = placed.run;
    if (slot === undefined || other.isOver) return false;
    if (!isShared(slot) || !mayTake(slot, start) || needs.of(start) !== undefined) return false;
    if (failures.hasFailedIn(slot, start.observerId)) return false;
    occupants.putBehind(placed, other, slot);
    return true;
  }

  /** Whether a run of this observer would begin at once, and whether it needs a slot that is not shared. */
  readinessFor(start: StartedAs): { isReady: boolean; isApart: boolean } {
    const { stock, needs } = this.#parts;
    const purpose = needs.of(start);
    if (purpose === undefined) return { isReady: stock.roster.shared.some((slot) => mayTake(slot, start)), isApart: false };
    const existing = stock.roster.existing(purpose, (slot) => this.#isFull(slot));
    return { isReady: existing?.isLoaded ?? stock.roster.hasWarmSpareFor(purpose), isApart: true };
  }

  /** Starts the slots that these will need. @returns whether they have all loaded */
  prepareFor(placed: readonly Placed[]): () => boolean {
    const { stock, needs } = this.#parts;
    const needed = new Set<Slot>();
    for (const { run } of placed) {
      const purpose = needs.of(run.start);
      const slot = purpose?.kind === "suspects" ? stock.slotFor(purpose) : undefined;
      if (slot !== undefined) needed.add(slot);
    }
    return () => [...needed].every(({ isLoaded, process }) => isLoaded || process.isKilled);
  }

  /** Takes out the waiting runs, which then wait no more. */
  takeWaiting(): Placed[] {
    return this.#waiting.splice(0);
  }

  waitNoMore(placed: Placed): void {
    this.#waiting = this.#waiting.filter((one) => one !== placed);
  }

  /** Why it would have to wait for a slot of its own. */
  noRoomFor(start: StartedAs): string | undefined {
    const { stock, needs, room } = this.#parts;
    const purpose = needs.of(start);
    if (purpose === undefined || !needs.mayWait(purpose) || stock.roster.hasRoomFor(purpose)) return undefined;
    if (this.#isOneThere(start, purpose)) return undefined;
    room.makeOfSurplus();
    if (stock.roster.hasMoreSuspected) room.makeOfCalm(); // most of them are innocent, and stay for as long as suspicion lasts
    const what = purpose.kind === "own" ? "its type asks for one of its own" : "it has ended one, and has to be alone";
    return `no slot is free, ${what}: there may be ${stock.roster.max} (MAX_SLOTS), two of them kept for suspects`;
  }

  /** Why a task, which may go elsewhere, would have to wait: it needs a slot of its own, or none has its type. */
  noSlotFor(start: StartedAs): string | undefined {
    const noRoom = this.noRoomFor(start);
    if (noRoom !== undefined || this.#mayGetSlot(start)) return noRoom;
    return "no slot has its type, nor would one that starts now: the log has said why (slot-lacks-types, slot-ended-unloaded, slot-not-started)";
  }

  /** Whether a slot that may take it has its type, or may have it when it has loaded. */
  #mayGetSlot(start: StartedAs): boolean {
    const { stock, needs } = this.#parts;
    const purpose = needs.of(start);
    const { slots, spare } = stock.roster;
    const isTaker = (slot: Slot) => isOfUse(slot) && (!slot.isLoaded || mayTake(slot, start));
    const mayJoin = purpose === undefined || !needs.mayWait(purpose);
    const company = purpose?.kind === "suspects" ? OF_SUSPECTS : EVERYBODYS;
    if (mayJoin && [...slots].some((slot) => company.has(slot.purpose.kind) && isTaker(slot))) return true;
    if (purpose === undefined || purpose.kind === "suspects") return false;
    const isOneToCome = stock.isWorthOneMore(purpose) || (spare !== undefined && suits(spare, purpose));
    return isOneToCome || this.#isOneThere(start, purpose);
  }

  /** For a run that needs a slot of its own: whether there is one that it would get, or one is being started for it. */
  #isOneThere({ observerId }: StartedAs, purpose: OwnPurpose): boolean {
    if (this.#parts.stock.roster.existing(purpose, (slot) => this.#isFull(slot)) !== undefined) return true;
    return this.#waiting.some(({ run, awaits }) => awaits !== undefined && run.start.observerId === observerId);
  }

  #slotFor(start: StartedAs): Slot | undefined {
    const { stock, folder, needs, room } = this.#parts;
    if (!folder.prints.has(start.type)) return undefined; // the type is gone from the folder, though a slot may still have it
    const purpose = needs.of(start);
    if (purpose !== undefined) {
      const own = stock.slotFor(purpose, (slot) => this.#isFull(slot));
      if (own?.isLoaded === true && !mayTake(own, start)) return this.#leastLoaded(start); // only suspects go on: they do not wait
      if (own !== undefined || needs.mayWait(purpose)) return own;
      if (purpose.kind === "own") return this.#leastLoaded(start);
      // There may be no more slots. Suspects do not wait, as most of them are innocent: they join others, until surplus
      // slots, or those of calm suspects, have gone.
      room.makeOfSurplus();
      room.makeOfCalm();
      const others = stock.roster.suspected.at(-1);
      if (others !== undefined && (!others.isLoaded || mayTake(others, start))) return others;
    }
    return this.#leastLoaded(start);
  }

  /** The least loaded shared slot. What has failed in one lately counts as if it ran there. */
  #leastLoaded(start: StartedAs): Slot | undefined {
    const { stock, occupants, failures } = this.#parts;
    const nowMs = performance.now();
    let best: Slot | undefined;
    let leastLoad = Number.POSITIVE_INFINITY;
    let longestAgo = 0;
    for (const slot of stock.roster.slots) {
      if (!isShared(slot) || !mayTake(slot, start)) continue;
      const load = occupants.countIn(slot) + failures.loadIn(slot, start.observerId, nowMs);
      const turn = occupants.lastTurnOf(slot);
      if (load > leastLoad || (load === leastLoad && turn >= longestAgo)) continue;
      best = slot;
      leastLoad = load;
      longestAgo = turn;
    }
    return best;
  }

  #isFull(slot: Slot): boolean {
    if (slot.purpose.kind !== "own") return false;
    const { needs, occupants } = this.#parts;
    const awaiting = this.#waiting.filter(({ awaits }) => awaits === slot).length;
    return occupants.countIn(slot) + awaiting >= needs.runsPerSlot(slot.purpose.type);
  }
}

/** Whether its folder had that type when it was loaded. */
const mayTake = ({ prints }: Slot, { type }: StartedAs): boolean => prints.has(type);
