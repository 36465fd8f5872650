const SPAN_MS = 100;
/** How many events in a tenth of a second count as load. */
const HEAVY = 50;
/** The same while no worker waits for an event: the next tasks of free workers are here already. */
const HEAVY_IF_STOCKED = 5;

/** Decides whether there are so many events that they go in batches, and not at once. */
export class ToldLoad {
  #beganMs = Number.NEGATIVE_INFINITY;
  #count = 0;
  /** The count of the span before. */
  #before = 0;

  note(nowMs = performance.now()): void {
    this.#turn(nowMs);
    this.#count += 1;
  }

  /** @param isStocked enough tasks wait here for a worker */
  isHeavy(isStocked: boolean, nowMs = performance.now()): boolean {
    this.#turn(nowMs);
    return Math.max(this.#count, this.#before) >= (isStocked ? HEAVY_IF_STOCKED : HEAVY);
  }

  #turn(nowMs: number): void {
    const passedMs = nowMs - this.#beganMs;
    if (passedMs < SPAN_MS) return;
    this.#before = passedMs < 2 * SPAN_MS ? this.#count : 0;
    this.#count = 0;
    this.#beganMs = nowMs;
  }
}
