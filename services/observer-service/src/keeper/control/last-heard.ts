/**
 * Orders given before the last one arrive within this time, unless a manager stood still for longer. It also bounds the wait after a clock
 * was set back.
 */
const REMEMBERED_MS = 600_000;

/**
 * For orders of which the latest given counts, not the latest heard: remembers when the last one that was followed was given.
 */
export class LastHeard {
  #atMs = Number.NEGATIVE_INFINITY;
  #heardMs = Number.NEGATIVE_INFINITY;

  /** Whether it was given before that; else it is the last one now. @param atMs by the giver's clock; not given: nobody knows, and it is followed */
  isBefore(atMs: number | undefined): boolean {
    if (atMs === undefined) return false;
    const nowMs = performance.now();
    if (atMs < this.#atMs && nowMs - this.#heardMs < REMEMBERED_MS) return true;
    this.#atMs = atMs;
    this.#heardMs = nowMs;
    return false;
  }
}
