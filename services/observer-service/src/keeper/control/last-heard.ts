/** What was given before the last one comes within that, but of a manager that stood still for longer; and a clock that was set back is waited for no longer. */
const REMEMBERED_MS = 600_000;

/** Of orders of which the last one given counts, and not the last one heard: when the last one that was followed was given. */
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
