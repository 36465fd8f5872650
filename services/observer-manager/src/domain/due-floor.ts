/**
 * What is deleted stays in PostgreSQL's indexes for as long as anybody has a snapshot open that could see it, and each look for what is due
 * goes past all of it, as it lies before all that is to come. So where looks have become slow, most of them begin at a floor: below it the
 * last look has left nothing. What comes to be below it all the same (set for a time that has gone, given back, written by a transaction
 * that was open for long) is found by the next full look, which comes after ten times what it takes, or 5 s. Tasks have limits and
 * priorities, and floors of their own: tasks/claim-floors.ts.
 */

/** A full look needs no floor if it takes no longer than this, and the time that its rows take to write. */
const SLOW_MS = 10;
const SLOW_PER_ROW_MS = 0.2;
/** Looks begin at a floor for this many times as long as the full look took, */
const SHARE = 10;
/** but for no longer than this: nobody waits longer for the next full look. */
const LONGEST_MS = 5_000;
/** The floor is lower by so much: a transaction may commit so long after the time that it writes into a row. */
export const MARGIN_MS = 2_000;

/** Times are in ms since 1970, by the clock by which they are due. */
export interface DueLook {
  nowMs: number;
  /** When the first is due of what it has left; infinity: it has left none. */
  leftFromMs: number;
}

/** A look that took rows away. */
export interface DueClaim extends DueLook {
  rows: number;
  /** Measured by PostgreSQL: the way to it takes as long with a floor as without. */
  tookMs: number;
}

/** `atMs` alone is not by the database's clock: it is `performance.now()`. */
export class DueFloor {
  #from = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** The next look is to begin at this time, in ms since 1970; minus infinity: it looks everywhere. */
  from(atMs: number): number {
    return atMs < this.#untilMs ? this.#from : Number.NEGATIVE_INFINITY;
  }

  /** Looks begin at the floor for so long; 0: they look everywhere. */
  leftMs(atMs: number): number {
    return Math.max(0, this.#untilMs - atMs);
  }

  /** @param from where the look began: what `from` said */
  claimed(claim: DueClaim, from: number, atMs: number): void {
    if (from !== Number.NEGATIVE_INFINITY) return this.looked(claim, from);
    const { rows, tookMs } = claim;
    if (tookMs < SLOW_MS + rows * SLOW_PER_ROW_MS) return;
    this.#untilMs = atMs + Math.min(LONGEST_MS, SHARE * tookMs);
    this.#from = above(claim);
  }

  /** Notes a look that took nothing away. */
  looked(look: DueLook, from: number): void {
    // Two looks may be made at once, and the earlier one may be told of later.
    if (from !== Number.NEGATIVE_INFINITY) this.#from = Math.max(this.#from, above(look));
  }
}

const above = ({ nowMs, leftFromMs }: DueLook): number => Math.min(leftFromMs, nowMs - MARGIN_MS);
