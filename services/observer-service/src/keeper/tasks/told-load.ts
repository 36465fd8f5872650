const SPAN_MS = 100;
/** So many in a tenth of a second are load. */
const HEAVY = 50;
/** So many are, where no worker waits for what is told: those that are free next have their tasks here already. */
const HEAVY_IF_STOCKED = 5;

/** Whether so much is told that it goes by the batch, and not at once. */
export class ToldLoad {
  #beganMs = Number.NEGATIVE_INFINITY;
  #count = 0;
  /** In the span before. */
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
