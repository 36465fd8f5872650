import type { Log } from "../../../log.ts";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;

/**
 * After a slot that could not be started, or that ended before it had loaded anything, no slot is started for a while: for longer each
 * time, until one loads.
 */
export class SlotPauses {
  readonly #onOver: () => void;
  readonly #log: Log;
  #pauseMs = FIRST_PAUSE_MS;
  #isShort = false;
  #isResting = false;

  constructor(onOver: () => void, log: Log) {
    this.#onOver = onOver;
    this.#log = log;
  }

  /** One has ended before it had loaded anything, so the next is not started at the first demand, or they all would be. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** One has loaded, or it is known what ends them, so the next pause is a short one again. */
  reset(): void {
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** The folder now loads. */
  endRest(): void {
    this.#isResting = false;
  }

  /** One could not be started, and it is not yet time for the next. */
  notStarted(why: string): void {
    if (this.#isShort) return;
    this.#isShort = true;
    this.#log.error(
      { event: "slot-not-started", why, nextInMs: this.#pauseMs },
      "a slot could not be started because this machine has no resources left for it: it is tried again after a pause that doubles each time",
    );
    this.#later(() => {
      this.#isShort = false;
    });
  }

  /** One has ended before it had loaded anything. */
  rest(why: string, pid: number): void {
    this.#isResting = true;
    this.#log.warn(
      { event: "slot-ended-unloaded", slot: pid, why, nextInMs: this.#pauseMs },
      "a slot ended before it had loaded anything: the next one is started after a pause that doubles each time",
    );
    this.#later(() => this.endRest());
  }

  #later(end: () => void): void {
    setTimeout(() => {
      end();
      this.#onOver();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2);
  }
}
