import { SlotNotStartedError } from "../process/slot-process.ts";
import { isOfUse, type OwnPurpose, type Purpose, type Slot, suits } from "../slot.ts";
import type { SlotFolder } from "./slot-folder.ts";
import type { SlotLauncher } from "./slot-launcher.ts";
import type { SlotPauses } from "./slot-pauses.ts";
import { SlotRoster } from "./slot-roster.ts";

export interface SlotCounts {
  /** How many slots observers share while nobody is suspected. */
  readonly count: number;
  /** How many slots there may be in all: shared, of suspects, of guilty ones, and the warm spare. */
  readonly max: number;
}

export interface SlotStockParts {
  readonly counts: SlotCounts;
  readonly launcher: Pick<SlotLauncher, "launch">;
  readonly folder: Pick<SlotFolder, "toLoad" | "lacks">;
  readonly pauses: Pick<SlotPauses, "isResting">;
  /** A slot has loaded that may now take runs that wait. */
  onRoom(): void;
  /** The system allows no more processes. */
  onNotStarted(why: string): void;
}

/** A slot that has not loaded by then may never load, so the spare does not wait for it. */
const LOADS_WITHIN_MS = 10_000;

/** Keeps as many slots up as there should be, and one warm spare, and decides for whom each of them is. */
export class SlotStock {
  readonly roster: SlotRoster;
  readonly #parts: SlotStockParts;
  #isClosed = false;

  constructor(parts: SlotStockParts) {
    this.#parts = parts;
    this.roster = new SlotRoster(parts.counts);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** None is started from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Undefined means that the system allows no more processes. Runs that need one wait until it does. */
  start(purpose: Purpose): Slot | undefined {
    const { launcher, folder, onNotStarted } = this.#parts;
    try {
      const slot = launcher.launch(purpose, folder.toLoad());
      this.roster.slots.add(slot);
      return slot;
    } catch (error) {
      if (!(error instanceof SlotNotStartedError)) throw error;
      onNotStarted(error.message);
      return undefined;
    }
  }

  /** Brings the shared slots to their number, taking the spare first, and starts a spare again. */
  fill(): void {
    if (this.#isClosed) return;
    const { count, max } = this.#parts.counts;
    const { slots, sharedLimit, spare } = this.roster;
    const living = [...slots].filter(isOfUse);
    let missing = count - living.filter(({ purpose }) => purpose.kind === "shared").length;
    if (missing > 0 && spare !== undefined && slots.size <= sharedLimit) {
      spare.purpose = { kind: "shared" };
      missing -= 1;
      if (spare.isLoaded) this.#parts.onRoom();
    }
    // A killed slot counts until it is reaped, when this is called again.
    for (; missing > 0 && slots.size < this.roster.sharedLimit; missing -= 1) this.start({ kind: "shared" });
    // A start takes a core for a moment, so slots that are waited for come first. When they have loaded, this is called again.
    const isWaitedFor = [...slots].some((slot) => !slot.isLoaded && Date.now() - slot.startedAtMs < LOADS_WITHIN_MS);
    if (this.roster.spare === undefined && !isWaitedFor && slots.size < max) this.start({ kind: "spare" });
  }

  /**
   * A slot of this purpose, started or made of the spare if there is none; undefined: there may be no more.
   *
   * @param isFull it takes no more of them
   */
  slotFor(purpose: OwnPurpose, isFull: (slot: Slot) => boolean = () => false): Slot | undefined {
    const existing = this.roster.existing(purpose, isFull);
    if (existing !== undefined) return existing;
    const { spare } = this.roster;
    if (spare !== undefined && suits(spare, purpose) && this.roster.hasRoomFor(purpose)) {
      spare.purpose = purpose;
      spare.sinceMs = performance.now();
      this.fill();
      return spare;
    }
    if (!this.isWorthOneMore(purpose)) return undefined;
    if (this.roster.mayStart(purpose)) return this.start(purpose);
    // Its place is needed. This is called again when it is gone.
    if (spare?.isLoaded && this.roster.hasRoomFor(purpose)) spare.process.kill();
    return undefined;
  }

  /** Whether a slot that is started now is likely to load, and to have its type. */
  isWorthOneMore(purpose: OwnPurpose): boolean {
    const { pauses, folder } = this.#parts;
    return !pauses.isResting && !folder.lacks(purpose);
  }

  /** It is no longer kept for only some: it is shared if a shared one is missing or something runs in it; else it is ended. */
  release(slot: Slot, isEmpty: boolean): void {
    const sharedNow = [...this.roster.slots].filter(({ purpose }) => purpose.kind === "shared").length;
    slot.purpose = { kind: "shared" };
    if (isEmpty && sharedNow >= this.#parts.counts.count) slot.process.kill();
  }

  /** The run that this slot was started for was stopped before it had loaded. It becomes the spare, or is ended. */
  takeBack(slot: Slot): void {
    if (this.roster.spare === undefined) slot.purpose = { kind: "spare" };
    else slot.process.kill();
  }

  /** The slot takes no more runs, and another takes its place. */
  retire(slot: Slot): void {
    slot.isRetired = true;
    this.fill();
  }

  /** The same, but what runs in it may stay. @param why it is spoilt */
  setAside(slot: Slot, why: string): void {
    slot.isOld = true;
    slot.spoilt = why;
    this.fill();
  }
}
