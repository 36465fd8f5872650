/**
 * What was noted lately, ordered by when it was last noted. Beyond `most` entries the oldest is forgotten. Times are in ms of a
 * monotonic clock.
 */
export class Lately<Key> {
  readonly #keptMs: number;
  readonly #most: number;
  // A Map keeps the order of insertion, so the first entry is always the oldest.
  readonly #lastMs = new Map<Key, number>();

  constructor({ keptMs, most }: { keptMs: number; most: number }) {
    this.#keptMs = keptMs;
    this.#most = most;
  }

  note(key: Key, nowMs: number): void {
    this.#lastMs.delete(key);
    this.#lastMs.set(key, nowMs);
    this.#forget(nowMs);
  }

  has(key: Key, nowMs: number): boolean {
    this.#forget(nowMs);
    return this.#lastMs.has(key);
  }

  /** Each entry with how long ago it was noted, the oldest first. */
  since(nowMs: number): [Key, number][] {
    this.#forget(nowMs);
    return [...this.#lastMs].map(([key, lastMs]) => [key, Math.max(0, nowMs - lastMs)]);
  }

  #forget(nowMs: number): void {
    for (const [key, lastMs] of this.#lastMs) {
      if (lastMs > nowMs - this.#keptMs && this.#lastMs.size <= this.#most) return;
      this.#lastMs.delete(key);
    }
  }
}
