import { memoryOf, memoryWishOf, type Slot } from "../slot.ts";
import { SlotDescriptors } from "../slot-descriptors.ts";
import type { SlotsMemory } from "../slot-history.ts";
import { limitBeside, memoryBoundBytes, type OverLimit, overLimit } from "../slot-memory.ts";
import { Silence } from "./slot-silence.ts";

export interface SlotWatchParts {
  readonly slots: ReadonlySet<Slot>;
  /** How many slots are shared when all are up. */
  readonly count: number;
  /** The memory of a slot without a limit of its own. */
  readonly memoryBytes: number;
  /** How long a slot may be silent; 0 means for ever. */
  readonly silentLimitMs: number;
  onOverLimit(slot: Slot, over: OverLimit): void;
  onFrozen(slot: Slot): void;
}

const EVERY_MS = 1_000;
/** The memory of a slot that cannot be over its limit is read only every so many looks. */
const FULL_LOOK_EVERY = 5;
/** The memory of a slot that runs nothing, until one can be measured. */
const EMPTY_BYTES = 70 * 2 ** 20;

/** Looks every second at the slots' memory and descriptors, and whether their watchdogs have been heard. */
export class SlotWatch {
  readonly #parts: SlotWatchParts;
  readonly #silence: Silence<Slot>;
  #timer: NodeJS.Timeout | undefined;
  readonly #descriptors = new WeakMap<Slot, SlotDescriptors>();
  #looks = 0;
  #emptyBytes = EMPTY_BYTES;

  constructor(parts: SlotWatchParts) {
    this.#parts = parts;
    this.#silence = new Silence(EVERY_MS, parts.silentLimitMs);
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  heard(slot: Slot): void {
    this.#silence.heard(slot);
  }

  /**
   * Of those that all share. What pages they have in common with the spare one, as they are the same program, they do not take. Of those
   * of older code what leaves goes over to the newer ones. One that goes with it has the place of a newer, and its room until that comes;
   * one that stays, for days as it may be, has what it has, and is no room of anybody else's.
   *
   * @param leavingPart how much of what runs in a slot of older code leaves it before long: 0 to 1
   */
  memory(leavingPart: (slot: Slot) => number): SlotsMemory {
    const { slots, memoryBytes, count } = this.#parts;
    const living = [...slots].filter(({ isLoaded, process }) => isLoaded && !process.isKilled);
    const spare = living.find(({ purpose }) => purpose.kind === "spare");
    if (spare !== undefined) this.#emptyBytes = boundOf(spare);
    const shared = [...slots].filter(({ purpose }) => purpose.kind === "shared");
    const newer = shared.filter(({ isOld }) => !isOld);
    const older = new Map(
      shared.filter(({ isOld }) => isOld).map((slot) => [slot, slot.process.isKilled ? 1 : leavingPart(slot)]),
    );
    const going = [...older.values()].filter((part) => part === 1).length;
    const toCome = Math.max(0, Math.min(going, count - newer.length));
    let usedBytes = 0;
    let limitBytes = toCome * memoryBytes;
    let grownBytes = 0;
    for (const { loadedBytes } of newer) limitBytes += limitBeside(memoryBytes, loadedBytes);
    for (const slot of shared.filter(({ isLoaded }) => isLoaded)) {
      const boundBytes = boundOf(slot);
      const slotGrownBytes = Math.max(0, boundBytes - this.#emptyBytes);
      const isNear = boundBytes > memoryBytes / 2;
      const leaving = older.get(slot);
      if (leaving !== undefined) usedBytes += leaving * slotGrownBytes;
      else usedBytes += isNear && !slot.process.isKilled ? memoryOf(slot) : boundBytes;
      grownBytes += slotGrownBytes;
    }
    return { usedBytes, limitBytes, grownBytes };
  }

  #look(): void {
    this.#looks += 1;
    const { slots, onFrozen } = this.#parts;
    const living = [...slots].filter(({ process }) => !process.isKilled);
    for (const slot of this.#silence.look(living)) onFrozen(slot);
    for (const slot of living.filter(({ isLoaded }) => isLoaded)) {
      const isFullLook = this.#looks % FULL_LOOK_EVERY === 0;
      this.#weigh(slot, isFullLook);
      const descriptors = this.#descriptors.get(slot) ?? new SlotDescriptors(slot.process.pid);
      this.#descriptors.set(slot, descriptors);
      this.#tell(slot, descriptors.over(slot.loadedDescriptors, isFullLook));
    }
  }

  #weigh(slot: Slot, isFullLook: boolean): void {
    const { purpose, process } = slot;
    const limitBytes = limitBeside(memoryWishOf(purpose) ?? this.#parts.memoryBytes, slot.loadedBytes);
    if (!isFullLook && memoryBoundBytes(process.pid) <= limitBytes) return;
    slot.seenMemoryBytes = memoryOf(slot);
    this.#tell(slot, overLimit(slot.seenMemoryBytes, limitBytes));
  }

  #tell(slot: Slot, over: OverLimit | undefined): void {
    if (over !== undefined && !slot.process.isKilled) this.#parts.onOverLimit(slot, over);
  }
}

/** Without /proc it is the slot's own report. */
function boundOf({ process, toldMemoryBytes }: Slot): number {
  const boundBytes = memoryBoundBytes(process.pid);
  return Number.isFinite(boundBytes) ? boundBytes : toldMemoryBytes;
}
