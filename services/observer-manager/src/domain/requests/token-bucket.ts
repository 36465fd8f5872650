const BURST_S = 10;

/** Lets so many a minute through, evenly; ten seconds' worth of them (one at least) may come at once. Times are monotonic, in ms. */
export class TokenBucket {
  readonly #perMs: number;
  readonly #capacity: number;
  #tokens: number;
  #atMs: number;

  constructor(perMinute: number, nowMs: number) {
    this.#perMs = perMinute / 60_000;
    this.#capacity = Math.max(1, (perMinute / 60) * BURST_S);
    this.#tokens = this.#capacity;
    this.#atMs = nowMs;
  }

  /** Takes one. @returns 0, or after how many ms there is one, if there is none */
  take(nowMs: number): number {
    this.#tokens = Math.min(this.#capacity, this.#tokens + Math.max(0, nowMs - this.#atMs) * this.#perMs);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return (1 - this.#tokens) / this.#perMs;
    this.#tokens -= 1;
    return 0;
  }
}
