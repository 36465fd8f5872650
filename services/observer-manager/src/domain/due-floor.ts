/**
 * What is deleted stays in PostgreSQL's indexes for as long as anybody has a snapshot open that could see it, and each look for what is due
 * goes past all of it, as it lies before all that is to come. So where looks have become slow, most of them begin at a floor: below it the last
 * look has left nothing. What comes to be below it all the same (set for a time that has gone, given back, written by a transaction that was
 * open for long) is found by the next full look, which comes after ten times what it takes, or 5 s. Of tasks, which have limits and priorities:
 * tasks/claim-floors.ts.
 */

/** A full look that takes no longer needs no floor; and to write one row takes so long. */
const SLOW_MS = 10;
const SLOW_PER_ROW_MS = 0.2;
/** Full looks take a tenth of the time at most, */
const SHARE = 10;
/** or a longer share: nobody waits for the next one for longer than this. */
const LONGEST_MS = 5_000;
/** Between the time that a transaction writes into a row and its commit: the floor is lower by so much. */
export const MARGIN_MS = 2_000;

/** Times are in ms since 1970, by the clock by which they are due. */
export interface DueLook {
  nowMs: number;
  /** When the first is due of what it has left; infinity: it has left none. */
  leftFromMs: number;
}

/** What took rows away. */
export interface DueClaim extends DueLook {
  rows: number;
  /** By PostgreSQL: the way to it takes as long with a floor as without. */
  tookMs: number;
}

/** `atMs` is what is not by the database's clock: `performance.now()`. */
export class DueFloor {
  #from = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** From when on the next look is to look, in ms since 1970; minus infinity: everywhere. */
  from(atMs: number): number {
    return atMs < this.#untilMs ? this.#from : Number.NEGATIVE_INFINITY;
  }

  /** For so long looks begin there; 0: they look everywhere. */
  leftMs(atMs: number): number {
    return Math.max(0, this.#untilMs - atMs);
  }

  /** @param from where it began: what `from` said */
  claimed(claim: DueClaim, from: number, atMs: number): void {
    if (from !== Number.NEGATIVE_INFINITY) return this.looked(claim, from);
    const { rows, tookMs } = claim;
    if (tookMs < SLOW_MS + rows * SLOW_PER_ROW_MS) return;
    this.#untilMs = atMs + Math.min(LONGEST_MS, SHARE * tookMs);
    this.#from = above(claim);
  }

  /** One that took nothing away. */
  looked(look: DueLook, from: number): void {
    // Of two beside each other the earlier may be told of later.
    if (from !== Number.NEGATIVE_INFINITY) this.#from = Math.max(this.#from, above(look));
  }
}

const above = ({ nowMs, leftFromMs }: DueLook): number => Math.min(leftFromMs, nowMs - MARGIN_MS);
