import { clearInterval, setInterval } from "node:timers";

/** A timer that throws a thousand times a second is not a thousand lines of log, nor as many messages to the keeper of all. */
const TELL_EVERY_MS = 1_000;

/** Errors that nobody caught, of one whom they belong to: the first is told at once, of those that follow the last once a second, with how many they were. */
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
    if (error === this.#last && typeof error === "object") return; // refused, and thrown on: process-guard.ts
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
