import type { LoadedFolder } from "../../wire/messages.ts";
import { isOfUse, isSame, isShared, type OwnPurpose, type Slot, suits } from "./slot.ts";

/** Guilty ones may not take the last slots: suspects are halved over two. */
const KEPT_FOR_SUSPECTS = 2;
/** Of those that all share. */
const EMPTIED_AT_ONCE = 0.125;

/** The slots that live, and what can be asked of them: which there are of each purpose, and whether there may be more. Changes nothing. */
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

  /** As many take anybody's starts as should, or as may now. */
  get isStaffed(): boolean {
    return this.shared.length >= this.#limits.count || this.slots.size >= this.sharedLimit;
  }

  /** Old slots have taken the places that are kept for others. */
  get isCrowded(): boolean {
    const living = [...this.slots].filter(({ process }) => !process.isKilled);
    return living.some(({ isOld }) => isOld) && living.length >= this.#limits.max - KEPT_FOR_SUSPECTS;
  }

  /** Slots of older code that all shared. */
  get oldShared(): Slot[] {
    return [...this.slots].filter(({ isOld, purpose, process }) => isOld && purpose.kind === "shared" && !process.isKilled);
  }

  /** One that is warm, nobody's yet, and suits. */
  hasWarmSpareFor(purpose: OwnPurpose): boolean {
    return this.spare?.isLoaded === true && suits(this.spare, purpose);
  }

  /** Whether one more slot could be had for one that needs its own: a new one, the spare, or a new one in its place. */
  hasRoomFor(purpose: OwnPurpose): boolean {
    const { spare } = this;
    if (spare !== undefined && suits(spare, purpose)) return true;
    return this.#mayStart(purpose, this.slots.size - (spare === undefined ? 0 : 1));
  }

  /** Whether there will be when one that lives now is gone: it is made a spare. */
  get willHaveRoomForOne(): boolean {
    return this.shared.length >= this.#limits.count && this.slots.size <= this.#limits.max;
  }

  /** Whether one more of this purpose may be started. */
  mayStart(purpose: OwnPurpose): boolean {
    return this.#mayStart(purpose, this.slots.size);
  }

  #mayStart({ kind }: OwnPurpose, living: number): boolean {
    return living < this.#limits.max - (kind === "suspects" ? 0 : KEPT_FOR_SUSPECTS);
  }

  existing(purpose: OwnPurpose, isFull: (slot: Slot) => boolean = () => false): Slot | undefined {
    return [...this.slots].find(
      (slot) => isSame(slot.purpose, purpose) && isOfUse(slot) && suits(slot, purpose) && !isFull(slot),
    );
  }

  /** The oldest first. */
  get suspected(): Slot[] {
    return [...this.slots].filter((slot) => slot.purpose.kind === "suspects" && isOfUse(slot));
  }

  /** Where many grow at once, what is emptied needs others to go to, and others need their time to start. */
  get mayEmptyOne(): boolean {
    const going = [...this.slots].filter(({ isRetired }) => isRetired).length;
    return going < Math.ceil(this.#limits.count * EMPTIED_AT_ONCE);
  }

  /** One is being emptied, so that there will be room. */
  get isOneGoing(): boolean {
    return [...this.slots].some(({ isRetired }) => isRetired);
  }

  /** Of those that all share, what is more than there should be; none while one is going already. */
  get surplus(): Slot[] {
    const { shared } = this;
    return this.isOneGoing || shared.length <= this.#limits.count ? [] : shared;
  }

  get max(): number {
    return this.#limits.max;
  }

  /** Slots that take anybody's starts now. */
  get shared(): Slot[] {
    return [...this.slots].filter(isShared);
  }

  get spare(): Slot | undefined {
    return [...this.slots].find((slot) => slot.purpose.kind === "spare" && isOfUse(slot));
  }

  /**
   * How many slots there may be with one more that all share. Old ones may stay for days: they are not to cost others their places. Nor
   * are they to leave all new starts without a slot: the first one may be more than there should be.
   */
  get sharedLimit(): number {
    const { max } = this.#limits;
    const living = [...this.slots].filter(({ process }) => !process.isKilled);
    if (!living.some(({ isOld }) => isOld)) return max;
    const isOneNew = living.some((slot) => slot.purpose.kind === "shared" && isOfUse(slot));
    return isOneNew ? max - KEPT_FOR_SUSPECTS - 1 : Number.POSITIVE_INFINITY;
  }
}

export const hasCode = ({ prints }: Slot, code: LoadedFolder["code"]): boolean =>
  code.every(({ type, print }) => prints.get(type) === print);
