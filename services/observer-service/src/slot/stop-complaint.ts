import { clearTimeout, setTimeout } from "node:timers";

const LONGEST_PAUSE_MS = 600_000;

/** About a handler that was told to end: as long as it does not, it is complained about, each time after as long again as until then. */
export class StopComplaint {
  readonly #complain: (forMs: number, isFirst: boolean) => void;
  #timer: NodeJS.Timeout;

  /** @param afterMs how long it has for its end @param complain for how long it has not ended */
  constructor(afterMs: number, complain: (forMs: number, isFirst: boolean) => void) {
    this.#complain = complain;
    this.#timer = this.#later(afterMs, afterMs);
  }

  /** The handler has ended. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #later(pauseMs: number, totalMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#complain(totalMs, totalMs === pauseMs);
      const nextMs = Math.min(totalMs, LONGEST_PAUSE_MS);
      this.#timer = this.#later(nextMs, totalMs + nextMs);
    }, pauseMs).unref();
  }
}
