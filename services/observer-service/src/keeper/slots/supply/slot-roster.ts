import type { LoadedFolder } from "../../../wire/messages.ts";
import { isOfUse, isSame, isShared, type OwnPurpose, type Slot, suits } from "../slot.ts";

/** The last slots are kept for suspects, whose groups are split over two. */
const KEPT_FOR_SUSPECTS = 2;
/** The part of the shared slots that may be emptied at once. */
const EMPTIED_AT_ONCE = 0.125;

/**
 * The slots that live, and what can be asked of them: which there are of each purpose, and whether there may be more. Changes nothing.
 * For whom the last places are:
 *  - two are the suspects', the spare one of them: guilty ones and types that ask for their own take none of these (but the first slot of
 *    theirs), nor do slots that all share, beyond the first, while suspects lack their second. Else the halves of suspects would share a
 *    slot, and nobody ever be found;
 *  - one is for what all share: suspects, who take all else, leave it, or new starts would wait for as long as the search goes on.
 */
export class SlotRoster {
  readonly slots = new Set<Slot>();
  readonly #limits: { readonly count: number; readonly max: number };

  /** @param limits how many all share, and how many there are at most */
  constructor(limits: { readonly count: number; readonly max: number }) {
    this.#limits = limits;
  }

  /** Whether every slot that takes starts has this code. */
  hasAll(code: LoadedFolder["code"]): boolean {
    return [...this.slots].filter(isOfUse).every((slot) => hasCode(slot, code));
  }

  /** Whether as many slots take anybody's starts as should, or as may now and have loaded. */
  get isStaffed(): boolean {
    return this.shared.length >= this.#limits.count || (this.slots.size >= this.sharedLimit && !this.#isOneLoading);
  }

  get #isOneLoading(): boolean {
    return [...this.slots].some((slot) => slot.purpose.kind === "shared" && isOfUse(slot) && !slot.isLoaded);
  }

  /** Whether old slots, or spoilt ones, have taken the places that are kept for others. */
  get isCrowded(): boolean {
    const living = [...this.slots].filter(({ process }) => !process.isKilled);
    return living.some(({ isOld }) => isOld) && living.length >= this.#limits.max - KEPT_FOR_SUSPECTS;
  }

  /** Whether a slot may live on beside its replacement, without taking room that others lack (`isCrowded`). */
  get hasRoomAside(): boolean {
    return this.slots.size + 1 < this.#limits.max - KEPT_FOR_SUSPECTS;
  }

  /** Formerly shared slots that have older code, or are spoilt. */
  get oldShared(): Slot[] {
    return [...this.slots].filter(({ isOld, purpose, process }) => isOld && purpose.kind === "shared" && !process.isKilled);
  }

  /** Whether there is a warm spare slot that suits. */
  hasWarmSpareFor(purpose: OwnPurpose): boolean {
    return this.spare?.isLoaded === true && suits(this.spare, purpose) && this.hasRoomFor(purpose);
  }

  /** Whether one more slot could be had for a run that needs its own: a new one, the spare, or a new one in its place. */
  hasRoomFor({ kind }: OwnPurpose): boolean {
    return this.#mayBeOneMore(kind, this.#inUse);
  }

  /** Whether a type will have room for one more slot of its own when a living one is gone: that is made a spare. */
  get willHaveRoomForOne(): boolean {
    return this.shared.length >= this.#limits.count && this.#mayBeOneMore("own", this.#inUse - 1);
  }

  /** Whether one more of this purpose may be started, beside the spare. */
  mayStart({ kind }: OwnPurpose): boolean {
    return this.#mayBeOneMore(kind, this.slots.size);
  }

  /** All slots but the spare, which may take any purpose, or make room. */
  get #inUse(): number {
    return this.slots.size - (this.spare === undefined ? 0 : 1);
  }

  #mayBeOneMore(kind: OwnPurpose["kind"], living: number): boolean {
    const { count, max } = this.#limits;
    if (kind === "suspects") return living < (this.#isOneShared ? max : max - 1);
    // If all are for sharing or kept, one that needs its own is of more use than none. Old ones that were shared may stay for days.
    const limit = Math.max(max - KEPT_FOR_SUSPECTS, count + 1);
    const ofSuspects = Math.min(this.suspected.length, KEPT_FOR_SUSPECTS); // suspects already have these two
    return living < max && living - this.oldShared.length - ofSuspects < limit;
  }

  get #isOneShared(): boolean {
    return [...this.slots].some((slot) => slot.purpose.kind === "shared" && isOfUse(slot));
  }

  existing(purpose: OwnPurpose, isFull: (slot: Slot) => boolean = () => false): Slot | undefined {
    return [...this.slots].find(
      (slot) => isSame(slot.purpose, purpose) && isOfUse(slot) && suits(slot, purpose) && !isFull(slot),
    );
  }

  /** Whether suspects have more than the two slots that are kept for them. */
  get hasMoreSuspected(): boolean {
    return this.suspected.length > KEPT_FOR_SUSPECTS;
  }

  /** Slots of suspects, the oldest first. */
  get suspected(): Slot[] {
    return [...this.slots].filter((slot) => slot.purpose.kind === "suspects" && isOfUse(slot));
  }

  /** If many slots grow at once, their runs need other slots to go to, and those need time to start. */
  get mayEmptyOne(): boolean {
    const going = [...this.slots].filter(({ isRetired }) => isRetired).length;
    return going < Math.ceil(this.#limits.count * EMPTIED_AT_ONCE);
  }

  /** Whether a slot is being emptied, so that there will be room. */
  get isOneGoing(): boolean {
    return [...this.slots].some(({ isRetired }) => isRetired);
  }

  /** The surplus of shared slots; none while one is going already. */
  get surplus(): Slot[] {
    const { shared } = this;
    return this.isOneGoing || shared.length <= this.#limits.count ? [] : shared;
  }

  get max(): number {
    return this.#limits.max;
  }

  /** The slots that take anybody's starts now. */
  get shared(): Slot[] {
    return [...this.slots].filter(isShared);
  }

  get spare(): Slot | undefined {
    return [...this.slots].find((slot) => slot.purpose.kind === "spare" && isOfUse(slot));
  }

  /**
   * How many slots there may be including one more that all share. Old ones may stay for days: they must neither cost others their places
   * nor leave all new starts without a slot, so the first one may be more than there should be. The others wait for the second slot of
   * suspects.
   */
  get sharedLimit(): number {
    const { max } = this.#limits;
    const isOneOld = [...this.slots].some(({ isOld, process }) => isOld && !process.isKilled);
    if (!this.#isOneShared) return isOneOld ? Number.POSITIVE_INFINITY : max;
    if (isOneOld) return max - KEPT_FOR_SUSPECTS - 1;
    const ofSuspects = this.suspected.length;
    return ofSuspects === 0 ? max : max - Math.max(0, KEPT_FOR_SUSPECTS - ofSuspects);
  }
}

export const hasCode = ({ prints }: Slot, code: LoadedFolder["code"]): boolean =>
  code.every(({ type, print }) => prints.get(type) === print);
