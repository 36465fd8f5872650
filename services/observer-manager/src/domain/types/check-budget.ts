import { toldFields } from "../field-problems.ts";

/** A check may take so long uncounted. Measured, an honest expression takes a sixth of it: ten thousand such are all checked. */
const HONEST_MS = 1;

/** The CPU time for the checks of one call, beyond HONEST_MS for each. */
const CALL_MS = 1_000;

/**
 * What the checks of one call may take together: each in time for itself, ten thousand would take minutes. Those that cannot take long
 * are not counted, nor ended.
 */
export class CheckBudget<Of extends object> {
  /** What is told of all that is wrong. */
  readonly told = toldFields();
  #leftMs = CALL_MS;
  readonly #spentMs = new Map<Of, number>();

  get isSpent(): boolean {
    return this.#leftMs <= 0;
  }

  /** @returns on whom most of it was spent, once: when nothing is left */
  spend(on: Of, ms: number): Of | undefined {
    if (this.isSpent || ms <= HONEST_MS) return undefined;
    const beyondMs = ms - HONEST_MS;
    this.#leftMs -= beyondMs;
    this.#spentMs.set(on, (this.#spentMs.get(on) ?? 0) + beyondMs);
    if (!this.isSpent) return undefined;
    return [...this.#spentMs].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  }
}
