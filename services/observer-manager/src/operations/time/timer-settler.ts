import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../log.ts";
import type { Firing, TimerFiringStore } from "./timer-store.ts";

const AT_ONCE = 1_000;
/** For others to be written with: a statement of its own for each frame of confirms costs a fifth more. */
const GATHER_MS = 8;
const AGAIN_MS = 500;

export interface TimerSettlerParts {
  store: Pick<TimerFiringStore, "settle">;
  /** These are written. */
  settled(firings: readonly Firing[]): void;
  log: Log;
}

/**
 * Comes in: what became of what was published. Guarantee: it is written, in sets, one transaction after the other, for as long as this
 * process lives and the database does not come back. A crash leaves them Firing, to be fired once more.
 */
export class TimerSettler {
  readonly #parts: TimerSettlerParts;
  #waiting: Firing[] = [];
  #working: Promise<void> | undefined;
  #isClosing = false;

  constructor(parts: TimerSettlerParts) {
    this.#parts = parts;
  }

  add(firing: Firing): void {
    this.#waiting.push(firing);
    this.#working ??= this.#work();
  }

  /** Tries once more what is left, and no longer. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      await sleep(GATHER_MS);
      const some = this.#waiting.splice(0, AT_ONCE);
      if (await this.#write(some)) continue;
      this.#waiting = [...some, ...this.#waiting];
      if (this.#isClosing) break;
      await sleep(AGAIN_MS);
    }
    this.#working = undefined;
  }

  async #write(some: Firing[]): Promise<boolean> {
    try {
      await this.#parts.store.settle(some);
      this.#parts.settled(some);
      return true;
    } catch (error) {
      this.#parts.log.warn({ err: error, timers: some.length }, "what became of timers could not be written; trying again");
      return false;
    }
  }
}
