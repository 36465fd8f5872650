import type { ObserverId } from "@unacked/contracts";

/** How far a stop can be ahead of a start that is still on its way. After longer than that the manager sends it again. */
export const TOMBSTONE_MS = 15 * 60_000;
const MAX_TOMBSTONES = 100_000;

/**
 * What was stopped here, and up to which revision, so that a start which its stop has overtaken is not run. Bounded: the
 * oldest go first, after 15 min or when there are too many.
 */
export class Tombstones {
  // A Map keeps the order of insertion, so the first entry is always the oldest.
  readonly #graves = new Map<ObserverId, { revision: number; untilMs: number }>();
  readonly #maxSize: number;

  constructor(maxSize = MAX_TOMBSTONES) {
    this.#maxSize = maxSize;
  }

  /** @param nowMs of a monotonic clock. */
  remember(observerId: ObserverId, revision: number, nowMs: number): void {
    const known = this.#graves.get(observerId);
    this.#graves.delete(observerId);
    this.#graves.set(observerId, { revision: Math.max(revision, known?.revision ?? 0), untilMs: nowMs + TOMBSTONE_MS });
    this.#forgetOldest(nowMs);
  }

  /** Whether a start of this revision must not be run. */
  refuses(observerId: ObserverId, revision: number, nowMs: number): boolean {
    const grave = this.#graves.get(observerId);
    return grave !== undefined && nowMs < grave.untilMs && revision <= grave.revision;
  }

  get size(): number {
    return this.#graves.size;
  }

  #forgetOldest(nowMs: number): void {
    for (const [observerId, { untilMs }] of this.#graves) {
      if (untilMs > nowMs && this.#graves.size <= this.#maxSize) return;
      this.#graves.delete(observerId);
    }
  }
}
