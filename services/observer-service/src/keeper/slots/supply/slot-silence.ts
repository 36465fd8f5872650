/** A slot whose watchdog has yet to begin may be silent for longer: it has to load first, on a machine that may be slow. */
const BEGINNING_SILENT_MS = 20_000;

/**
 * Finds slots that were not heard for too long, although this process was there to hear: they are frozen from outside
 * (SIGSTOP).
 */
export class Silence<S extends object> {
  readonly #limitMs: number;
  readonly #everyMs: number;
  readonly #silentMs = new WeakMap<S, number>();
  /** Slots that were heard at least once. */
  readonly #begun = new WeakSet<S>();
  #lookedAtMs = performance.now();

  /**
   * @param everyMs how often `look` is called; a look that comes late counts for nobody
   * @param limitMs 0: nobody is looked for
   */
  constructor(everyMs: number, limitMs: number) {
    this.#everyMs = everyMs;
    this.#limitMs = limitMs;
  }

  /** If it was heard between two looks, that time does not count as silence, whenever in it that was. */
  heard(slot: S): void {
    this.#silentMs.set(slot, -this.#everyMs);
    this.#begun.add(slot);
  }

  /** @returns those that have been silent for the limit, by punctual looks alone */
  look(slots: Iterable<S>, nowMs = performance.now()): S[] {
    const isPunctual = nowMs - this.#lookedAtMs < 2 * this.#everyMs;
    this.#lookedAtMs = nowMs;
    const silent: S[] = [];
    for (const slot of slots) {
      const silentMs = (this.#silentMs.get(slot) ?? 0) + (isPunctual ? this.#everyMs : 0);
      this.#silentMs.set(slot, silentMs);
      const limitMs = this.#begun.has(slot) ? this.#limitMs : Math.max(this.#limitMs, BEGINNING_SILENT_MS);
      if (this.#limitMs > 0 && silentMs >= limitMs) silent.push(slot);
    }
    return silent;
  }
}
