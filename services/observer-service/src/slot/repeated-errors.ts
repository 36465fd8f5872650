import { clearInterval, setInterval } from "node:timers";

/**
 * The pause between reports: a timer that throws a thousand times a second must not make a thousand lines of log, nor as many
 * messages to the keeper.
 */
const TELL_EVERY_MS = 1_000;

/** Uncaught errors of one owner: the first is reported at once, and of those that follow the last one once a second, with their number. */
export class RepeatedErrors {
  readonly #tell: (error: unknown, times: number) => void;
  #last: unknown;
  #times = 0;
  #pause: NodeJS.Timeout | undefined;

  /** @param tell so often since it was told last: `times` */
  constructor(tell: (error: unknown, times: number) => void) {
    this.#tell = tell;
  }

  note(error: unknown): void {
    if (error === this.#last && typeof error === "object") return; // it was refused, and is thrown on: process-guard.ts
    this.#last = error;
    this.#times += 1;
    if (this.#pause !== undefined) return;
    this.#pause = setInterval(() => this.#tellNow(), TELL_EVERY_MS).unref();
    this.#tellNow();
  }

  #tellNow(): void {
    if (this.#times === 0) {
      clearInterval(this.#pause);
      this.#pause = undefined;
      this.#last = undefined;
      return;
    }
    const times = this.#times;
    this.#times = 0;
    this.#tell(this.#last, times);
  }
}
