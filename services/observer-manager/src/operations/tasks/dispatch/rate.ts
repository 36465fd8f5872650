/** The newest count weighs so much. */
const WEIGHT = 0.5;
const LEAST_MS = 200;

/** How many a second, over about the last two counts. */
export class Rate {
  perS = 0;
  #count = 0;
  #sinceMs = performance.now();

  add(count: number): void {
    this.#count += count;
    const tookMs = performance.now() - this.#sinceMs;
    if (tookMs < LEAST_MS) return;
    this.perS += WEIGHT * ((this.#count * 1_000) / tookMs - this.perS);
    this.#count = 0;
    this.#sinceMs = performance.now();
  }
}
