import { memoryOf, memoryWishOf, type Slot } from "../slot.ts";
import { SlotDescriptors } from "../slot-descriptors.ts";
import type { SlotsMemory } from "../slot-history.ts";
import { limitBeside, memoryBoundBytes, type OverLimit, overLimit } from "../slot-memory.ts";
import { Silence } from "./slot-silence.ts";

export interface SlotWatchParts {
  readonly slots: ReadonlySet<Slot>;
  /** How many all share, when all are there. */
  readonly count: number;
  /** What a slot may take that has no limit of its own. */
  readonly memoryBytes: number;
  /** How long one may be silent; 0: for ever. */
  readonly silentLimitMs: number;
  onOverLimit(slot: Slot, over: OverLimit): void;
  onFrozen(slot: Slot): void;
}

const EVERY_MS = 1_000;
/** What each takes is asked of the system so seldom, where it cannot be over its limit. */
const FULL_LOOK_EVERY = 5;
/** What one takes that runs nothing, until there is one to look at. */
const EMPTY_BYTES = 70 * 2 ** 20;

/** Looks every second at what the slots take, memory and descriptors, and whether their watchdogs have been heard. */
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

/** Without /proc: what it says itself. */
function boundOf({ process, toldMemoryBytes }: Slot): number {
  const boundBytes = memoryBoundBytes(process.pid);
  return Number.isFinite(boundBytes) ? boundBytes : toldMemoryBytes;
}
