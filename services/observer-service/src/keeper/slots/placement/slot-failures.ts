import type { Slot } from "../slot.ts";

/** A run that fails later than this was well in its slot. */
const SOON_MS = 30_000;
/** A run that has lived for this long is well. */
const WELL_MS = 3_000;
/** How many failures in a row count as many. */
const MANY = 8;
/** A failure that is longer ago than this does not belong to the same row. */
const LAPSES_MS = 60_000;
/** After this time half of a slot's failures are forgotten. */
const HALF_LIFE_MS = 10_000;
/**
 * A run that fails soon counts for this many runs. It goes on where it begins again, so if it counted as one, a slot that fails all would
 * always look emptier.
 */
const SOON_COUNTS = 10;
/** How many more runs another slot may have before a run that failed begins again where it did. */
const AVOIDED = 100;
/** For how many observers the slot of their last failure is known. */
const REMEMBERED = 10_000;

/** A handler that runs, or has run. */
export interface Begun {
  readonly run: { readonly start: { readonly observerId: string; readonly type: string } };
  readonly beganMs: number;
}

/** The runs of one type in one slot that failed soon after they had begun, since the last one that was well. */
interface Row {
  /** The first observers of the row. */
  readonly observers: Set<string>;
  /** Those of them that were well in another slot, before they failed in any other. */
  readonly wellElsewhere: Set<string>;
  readonly sinceMs: number;
  /** How many of the type had failed in all slots when the row began. */
  readonly failedBefore: number;
  lastMs: number;
  failures: number;
}

/** The load that failures count for, at that time. */
interface Lately {
  readonly load: number;
  readonly atMs: number;
}

/**
 * How handlers fare in slots. A handler may spoil its process for all in it (it ends a pool that they share, it leaks descriptors): they
 * fail, and so does whatever begins there, while the slot looks empty, as a run that waits for its next attempt is in none. The cost does
 * not depend on how much runs. Pure: time is an argument.
 */
export class SlotFailures {
  readonly #lately = new WeakMap<Slot, Lately>();
  /** The rows by slot and type. */
  readonly #rows = new WeakMap<Slot, Map<string, Row>>();
  /** By type: how many failed soon, in all slots. */
  readonly #failed = new Map<string, number>();
  /** By observer: the slot in which it failed last. */
  readonly #lastIn = new Map<string, Slot>();

  /** The load that its failures count for, beside what runs in it, for a run that is to begin. */
  loadIn(slot: Slot, observerId: string, nowMs = performance.now()): number {
    return Math.round(this.#latelyIn(slot, nowMs)) + (this.hasFailedIn(slot, observerId) ? AVOIDED : 0);
  }

  /** Whether it failed in this slot, and nowhere since. */
  hasFailedIn(slot: Slot, observerId: string): boolean {
    return this.#lastIn.get(observerId) === slot;
  }

  done(slot: Slot, { observerId, type }: Begun["run"]["start"]): void {
    const last = this.#lastIn.get(observerId);
    const row = last && last !== slot ? this.#rows.get(last)?.get(type) : undefined;
    if (row?.observers.has(observerId)) row.wellElsewhere.add(observerId);
    this.#rows.get(slot)?.delete(type);
    this.#lastIn.delete(observerId);
  }

  failed(slot: Slot, { run, beganMs }: Begun, nowMs = performance.now()): void {
    const { observerId, type } = run.start;
    const wasSoon = nowMs - beganMs <= SOON_MS;
    this.#lately.set(slot, { load: this.#latelyIn(slot, nowMs) + (wasSoon ? SOON_COUNTS : 1), atMs: nowMs });
    this.#remember(observerId, slot);
    if (!wasSoon) return;
    const failedBefore = this.#failed.get(type) ?? 0;
    this.#failed.set(type, failedBefore + 1);
    const rows = this.#rows.get(slot) ?? new Map<string, Row>();
    const row = this.#rowOf(slot, type, nowMs) ?? {
      ...{ observers: new Set(), wellElsewhere: new Set(), sinceMs: nowMs, failedBefore, lastMs: nowMs, failures: 0 },
    };
    row.failures += 1;
    row.lastMs = nowMs;
    if (row.observers.size < MANY) row.observers.add(observerId);
    this.#rows.set(slot, rows.set(type, row));
  }

  /** Whether many of this type have failed in this slot one after the other. */
  haveManyFailed(slot: Slot, type: string, nowMs = performance.now()): boolean {
    return (this.#rowOf(slot, type, nowMs)?.observers.size ?? 0) >= MANY;
  }

  /**
   * Many have, and at least half of these were well where they began next, in another slot, while few failed there: it is not their doing. What fails everywhere
   * is well nowhere, however well others of its type are.
   *
   * @param here what has begun in it
   * @param elsewhere what has begun in the others
   */
  isSpoilt(slot: Slot, type: string, here: Iterable<Begun>, elsewhere: Iterable<Begun>, nowMs = performance.now()): boolean {
    const row = this.#rowOf(slot, type, nowMs);
    if (row === undefined || row.observers.size < MANY) return false;
    const isWell = ({ run, beganMs }: Begun): boolean =>
      run.start.type === type && beganMs >= row.sinceMs && nowMs - beganMs >= WELL_MS;
    for (const one of here) {
      if (!isWell(one)) continue;
      this.#rows.get(slot)?.delete(type);
      return false;
    }
    const well = new Set(row.wellElsewhere);
    for (const one of elsewhere) {
      const { observerId } = one.run.start;
      if (row.observers.has(observerId) && this.hasFailedIn(slot, observerId) && isWell(one)) well.add(observerId);
    }
    const failedElsewhere = (this.#failed.get(type) ?? 0) - row.failedBefore - row.failures;
    return well.size * 2 >= MANY && failedElsewhere * 4 <= row.failures;
  }

  #rowOf(slot: Slot, type: string, nowMs: number): Row | undefined {
    const row = this.#rows.get(slot)?.get(type);
    return row !== undefined && nowMs - row.lastMs <= LAPSES_MS ? row : undefined;
  }

  /** The slot is gone. */
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
