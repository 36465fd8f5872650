const KEPT = 100;
const ENOUGH = 20;
const SHARE = 0.95;

/** How long tasks run here, by type: of the last hundred that ended by themselves. */
export class Paces {
  readonly #byType = new Map<string, number[]>();
  readonly #onKnown: () => void;

  /** @param onKnown enough of a type have run for the first time */
  constructor(onKnown: () => void) {
    this.#onKnown = onKnown;
  }

  note(type: string, tookMs: number): void {
    const kept = this.#byType.get(type) ?? [];
    this.#byType.set(type, kept);
    if (kept.push(tookMs) > KEPT) kept.shift();
    else if (kept.length === ENOUGH) this.#onKnown();
  }

  /** Most took at most so long, in ms. Undefined: too few have run. */
  p95Ms(type: string): number | undefined {
    const kept = this.#byType.get(type) ?? [];
    if (kept.length < ENOUGH) return undefined;
    return kept.toSorted((a, b) => a - b)[Math.ceil(kept.length * SHARE) - 1];
  }
}
