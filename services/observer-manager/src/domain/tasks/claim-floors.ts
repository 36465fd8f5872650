/**
 * What is deleted stays in PostgreSQL's indexes for as long as anybody has a snapshot open that could see it, and each look at what
 * waits goes past all of it. So where looks have become slow, most of them begin at a floor: below it the last full look has found
 * nothing. What comes to be below it all the same (sent back, created by a transaction that was open for long) is found by the next
 * full look, which comes after ten times what it takes, or 5 s.
 */

/** A full look needs no floors if it takes no longer than this, and the time that its tasks take to write. */
const SLOW_MS = 10;
const SLOW_PER_TASK_MS = 0.2;
/** Whether a claim that has looked for all took long, for the tasks that it found. */
export const isSlowClaim = (tookMs: number, tasks: number): boolean => tookMs >= SLOW_MS + tasks * SLOW_PER_TASK_MS;

/** Looks begin at the floors for this many times as long as the full look took, */
const SHARE = 10;
/** but for no longer than this: nobody waits longer for the next full look. */
const LONGEST_MS = 5_000;
/** Floors are lower by so much: the first write of a transaction may come so long after the time that it writes into a row. */
const MARGIN_MS = 2_000;

/** What one look saw. Times are in ms since 1970; `xmin` and `xmax` are those of its snapshot, for transactions of this database. */
export interface Look {
  /** PostgreSQL's clock, and the one by which tasks are due. */
  nowMs: number;
  dueNowMs: number;
  xmin: bigint;
  xmax: bigint;
  /** The oldest of each type that was looked for; null: there is none. */
  oldestReady: readonly { type: string; ms: number | null }[];
  oldestSentMs: number | null;
}

/** Nothing is Ready that was due before, and nothing in flight that was sent before. Some types have a later floor. */
export interface Floors {
  readyFrom: Date;
  readyFromByType: ReadonlyMap<string, Date>;
  sentFrom: Date;
}

/**
 * The floors of one pool. What is in flight is counted exactly, as limits depend on it: a floor is no later than a look whose running
 * transactions have all ended by the look that made it, so that nobody can still commit a row from before.
 */
export class ClaimFloors {
  #before: Look | undefined;
  #floors: Floors | undefined;
  #untilMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  /** Undefined: it is time for a full look. */
  at(nowMs: number): Floors | undefined {
    return nowMs < this.#untilMs ? this.#floors : undefined;
  }

  /** A full look has taken so long, for so many tasks. @returns whether it is worth to find out where the next ones can begin */
  isSlow(tookMs: number, tasks: number, nowMs: number): boolean {
    if (!isSlowClaim(tookMs, tasks)) {
      this.#before = undefined;
      return false;
    }
    // Where somebody writes in one transaction for long there is no floor to be had.
    return this.#before === undefined || nowMs - this.#lookedAtMs >= Math.min(LONGEST_MS, tookMs);
  }

  /** `tookMs`: the full look that was slow. */
  looked(look: Look, tookMs: number, nowMs: number): void {
    this.#lookedAtMs = nowMs;
    const { nowMs: sentNowMs, dueNowMs, oldestReady, oldestSentMs, xmin } = look;
    const before = this.#before;
    if (before !== undefined && xmin < before.xmax) return; // one of then still writes
    this.#before = look;
    if (before === undefined) return;
    const agoMs = sentNowMs - before.nowMs + MARGIN_MS;
    const fromOf = (oldestMs: number | null) => Math.min(oldestMs ?? dueNowMs, dueNowMs - agoMs);
    const readyFrom = new Date(Math.min(...oldestReady.map(({ ms }) => fromOf(ms)), dueNowMs - agoMs));
    // Something is due since -infinity, which no manager writes: below that there is no floor, and no time to send to PostgreSQL.
    if (Number.isNaN(readyFrom.getTime())) return;
    this.#floors = {
      readyFrom,
      readyFromByType: new Map(oldestReady.map(({ type, ms }) => [type, new Date(fromOf(ms))])),
      sentFrom: new Date(Math.min(oldestSentMs ?? sentNowMs, sentNowMs - agoMs)),
    };
    this.#untilMs = nowMs + Math.min(LONGEST_MS, SHARE * tookMs);
  }
}
