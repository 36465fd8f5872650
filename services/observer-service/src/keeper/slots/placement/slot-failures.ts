import type { Slot } from "../slot.ts";

/** Who fails later than that was well there. */
const SOON_MS = 30_000;
/** Who has lived for so long is well. */
const WELL_MS = 3_000;
/** So many in a row. */
const MANY = 8;
/** Of a slot's failures half are forgotten after that. */
const HALF_LIFE_MS = 10_000;
/** Who fails so soon counts for so many runs: where it begins again it runs on, and one for one the slot that fails all would look the emptier for ever. */
const SOON_COUNTS = 10;
/** So many runs more another slot may have before one that failed begins again where it did. */
const AVOIDED = 100;
/** Of so many it is known where they failed last. */
const REMEMBERED = 10_000;

/** A handler that runs, or has run. */
export interface Begun {
  readonly run: { readonly start: { readonly observerId: string; readonly type: string } };
  readonly beganMs: number;
}

/** Of a type, in all slots. */
interface Tally {
  readonly done: number;
  readonly failed: number;
}

/** Of a type, in one slot: those that failed soon after they had begun, since the last that was well. */
interface Row {
  readonly observers: Set<string>;
  readonly sinceMs: number;
  /** Of the type, when the row began. */
  readonly before: Tally;
  failures: number;
}

/** What failures count for, and at that time. */
interface Lately {
  readonly load: number;
  readonly atMs: number;
}

const NONE: Tally = { done: 0, failed: 0 };

/**
 * How handlers fare in slots. One may spoil its process for all that run there (it ends a pool that they share, it leaks descriptors): these fail, and whatever
 * begins there does, while the slot looks empty, as who waits for its next attempt is in none. Costs the same however much runs. Pure: time is an argument.
 */
export class SlotFailures {
  readonly #lately = new WeakMap<Slot, Lately>();
  /** By slot and type. */
  readonly #rows = new WeakMap<Slot, Map<string, Row>>();
  readonly #tallies = new Map<string, Tally>();
  /** By observer: in which slot it failed last. */
  readonly #lastIn = new Map<string, Slot>();

  /** What its failures count for, beside what runs in it, for one that is to begin. */
  loadIn(slot: Slot, observerId: string, nowMs = performance.now()): number {
    return Math.round(this.#latelyIn(slot, nowMs)) + (this.hasFailedIn(slot, observerId) ? AVOIDED : 0);
  }

  /** There, and nowhere since. */
  hasFailedIn(slot: Slot, observerId: string): boolean {
    return this.#lastIn.get(observerId) === slot;
  }

  done(slot: Slot, { observerId, type }: Begun["run"]["start"]): void {
    const { done, failed } = this.#tallies.get(type) ?? NONE;
    this.#tallies.set(type, { done: done + 1, failed });
    this.#rows.get(slot)?.delete(type);
    this.#lastIn.delete(observerId);
  }

  failed(slot: Slot, { run, beganMs }: Begun, nowMs = performance.now()): void {
    const { observerId, type } = run.start;
    const wasSoon = nowMs - beganMs <= SOON_MS;
    this.#lately.set(slot, { load: this.#latelyIn(slot, nowMs) + (wasSoon ? SOON_COUNTS : 1), atMs: nowMs });
    this.#remember(observerId, slot);
    if (!wasSoon) return;
    const before = this.#tallies.get(type) ?? NONE;
    this.#tallies.set(type, { ...before, failed: before.failed + 1 });
    const rows = this.#rows.get(slot) ?? new Map<string, Row>();
    const row = rows.get(type) ?? { observers: new Set(), sinceMs: nowMs, before, failures: 0 };
    row.failures += 1;
    if (row.observers.size < MANY) row.observers.add(observerId);
    this.#rows.set(slot, rows.set(type, row));
  }

  /**
   * Many of this type have failed in this slot one after the other, and all that was well meanwhile was so in others, where few failed: it is not their doing.
   *
   * @param here what runs in it
   * @param elsewhere what runs in the others
   */
  isSpoilt(slot: Slot, type: string, here: Iterable<Begun>, elsewhere: Iterable<Begun>, nowMs = performance.now()): boolean {
    const rows = this.#rows.get(slot);
    const row = rows?.get(type);
    if (row === undefined || row.observers.size < MANY) return false;
    const isWell = ({ run, beganMs }: Begun): boolean =>
      run.start.type === type && beganMs >= row.sinceMs && nowMs - beganMs >= WELL_MS;
    if (countOf(here, isWell) > 0) {
      rows?.delete(type);
      return false;
    }
    const { done, failed } = this.#tallies.get(type) ?? NONE;
    const well = done - row.before.done + countOf(elsewhere, isWell);
    const failedElsewhere = failed - row.before.failed - row.failures;
    return well >= MANY && failedElsewhere * 4 <= well;
  }

  /** It is gone. */
  forget(slot: Slot): void {
    for (const [observerId, last] of this.#lastIn) if (last === slot) this.#lastIn.delete(observerId);
  }

  #latelyIn(slot: Slot, nowMs: number): number {
    const { load, atMs } = this.#lately.get(slot) ?? { load: 0, atMs: nowMs };
    return load * 2 ** ((atMs - nowMs) / HALF_LIFE_MS);
  }

  #remember(observerId: string, slot: Slot): void {
    this.#lastIn.delete(observerId);
    this.#lastIn.set(observerId, slot);
    const [oldest] = this.#lastIn.keys();
    if (this.#lastIn.size > REMEMBERED && oldest !== undefined) this.#lastIn.delete(oldest);
  }
}

function countOf(begun: Iterable<Begun>, isCounted: (one: Begun) => boolean): number {
  let count = 0;
  for (const one of begun) if (isCounted(one)) count += 1;
  return count;
}
