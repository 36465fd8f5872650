import type { ReconnectDelays } from "./broker-settings.ts";

export const DEFAULT_RECONNECT: ReconnectDelays = { initialMs: 50, maxMs: 1_000, resetAfterMs: 10_000 };

/** The delays between attempts to connect: doubling, each drawn from its upper half, so that a herd spreads out. */
export class ReconnectBackoff {
  readonly #delays: ReconnectDelays;
  readonly #random: () => number;
  #failures = 0;

  constructor(delays: ReconnectDelays = DEFAULT_RECONNECT, random: () => number = Math.random) {
    this.#delays = delays;
    this.#random = random;
  }

  /** How many attempts in a row have come to nothing. */
  get failures(): number {
    return this.#failures;
  }

  /**
   * The delay before the next attempt, in ms.
   * @param upMs how long the attempt that just ended had been up; 0 if it never was
   */
  nextMs(upMs: number): number {
    if (upMs >= this.#delays.resetAfterMs) this.#failures = 0;
    const plainMs = Math.min(this.#delays.maxMs, this.#delays.initialMs * 2 ** Math.min(this.#failures, 30));
    this.#failures += 1;
    return Math.round(plainMs * (0.5 + this.#random() / 2));
  }
}
