import { memoryOf, type Slot } from "./slot.ts";
import type { SlotsMemory } from "./slot-history.ts";
import { memoryBoundBytes, type OverLimit, overLimit } from "./slot-memory.ts";

export interface SlotWatchParts {
  readonly slots: ReadonlySet<Slot>;
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
/** To one whose watchdog has yet to begin more is allowed: it has to load first, on a machine that may be slow. */
const BEGINNING_SILENT_MS = 20_000;

/** Looks every second at what the slots take, and whether their watchdogs have been heard. */
export class SlotWatch {
  readonly #parts: SlotWatchParts;
  readonly #silence: Silence<Slot>;
  #timer: NodeJS.Timeout | undefined;
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

  /** Of those that all share. What pages they have in common with the spare one, as they are the same program, they do not take. */
  memory(): SlotsMemory {
    let [usedBytes, limitBytes, grownBytes] = [0, 0, 0];
    for (const slot of this.#parts.slots) {
      const { purpose, process, isLoaded } = slot;
      if (!isLoaded || (purpose.kind !== "shared" && purpose.kind !== "spare")) continue;
      const boundBytes = boundOf(slot);
      if (purpose.kind === "spare") {
        this.#emptyBytes = boundBytes;
        continue;
      }
      const isNear = boundBytes > this.#parts.memoryBytes / 2;
      usedBytes += isNear && !process.isKilled ? memoryOf(slot) : boundBytes;
      if (!slot.isOld) limitBytes += this.#parts.memoryBytes; // what is going has no room
      grownBytes += Math.max(0, boundBytes - this.#emptyBytes);
    }
    return { usedBytes, limitBytes, grownBytes };
  }

  #look(): void {
    this.#looks += 1;
    const { slots, onFrozen } = this.#parts;
    const living = [...slots].filter(({ process }) => !process.isKilled);
    for (const slot of this.#silence.look(living)) onFrozen(slot);
    for (const slot of living.filter(({ isLoaded }) => isLoaded)) this.#weigh(slot, this.#looks % FULL_LOOK_EVERY === 0);
  }

  #weigh(slot: Slot, isFullLook: boolean): void {
    const { purpose, process } = slot;
    const limitBytes = ("memoryBytes" in purpose && purpose.memoryBytes) || this.#parts.memoryBytes;
    if (!isFullLook && memoryBoundBytes(process.pid) <= limitBytes) return;
    slot.seenMemoryBytes = memoryOf(slot);
    const over = overLimit(slot.seenMemoryBytes, limitBytes);
    if (over !== undefined && !process.isKilled) this.#parts.onOverLimit(slot, over);
  }
}

/** Without /proc: what it says itself. */
function boundOf({ process, toldMemoryBytes }: Slot): number {
  const boundBytes = memoryBoundBytes(process.pid);
  return Number.isFinite(boundBytes) ? boundBytes : toldMemoryBytes;
}

/** Which of them has not been heard of for too long, though this process was there to hear: frozen from outside (SIGSTOP). */
class Silence<S extends object> {
  readonly #limitMs: number;
  readonly #everyMs: number;
  readonly #silentMs = new WeakMap<S, number>();
  /** Heard of at least once. */
  readonly #begun = new WeakSet<S>();
  #lookedAtMs = performance.now();

  /**
   * @param everyMs how often `look` is called; a look that comes late counts for nobody
   * @param limitMs 0: nobody is looked for
   */
  constructor(everyMs: number, limitMs: number) {
    this.#everyMs = everyMs;
    this.#limitMs = limitMs;
  }

  heard(slot: S): void {
    this.#silentMs.set(slot, 0);
    this.#begun.add(slot);
  }

  /** @returns those that have been silent for the limit, by punctual looks alone */
  look(slots: Iterable<S>, nowMs = performance.now()): S[] {
    const isPunctual = nowMs - this.#lookedAtMs < 2 * this.#everyMs;
    this.#lookedAtMs = nowMs;
    const silent: S[] = [];
    for (const slot of slots) {
      const silentMs = (this.#silentMs.get(slot) ?? 0) + (isPunctual ? this.#everyMs : 0);
      this.#silentMs.set(slot, silentMs);
      const limitMs = this.#begun.has(slot) ? this.#limitMs : Math.max(this.#limitMs, BEGINNING_SILENT_MS);
      if (this.#limitMs > 0 && silentMs >= limitMs) silent.push(slot);
    }
    return silent;
  }
}
