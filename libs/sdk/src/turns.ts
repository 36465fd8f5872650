import { setImmediate } from "node:timers";

/** So long may what is confirmed at once keep all else of the process from running. */
const LONGEST_MS = 10;
/** And so many at least: a handler's own work, or a busy machine, is no loop. Under a clock that a test moves, a turn that is let pass may be its last. */
const LEAST_PASSED = 100;

/** Of this process when it began: a test may have put a clock of its own in its place. */
const now = performance.now.bind(performance);

/**
 * In memory nothing waits for a broker: a handler that awaits one confirm after the other would never leave its turn of the event loop, and no
 * timer would fire, not even the one that is to stop it.
 */
export class Turns {
  #beganMs: number | undefined;
  #passed = 0;

  /** Resolves at once, or in the next turn where this one has lasted long enough. */
  pass(): Promise<void> {
    if (this.#beganMs === undefined) {
      this.#beganMs = now();
      this.#passed = 0;
      setImmediate(() => void (this.#beganMs = undefined));
    }
    this.#passed += 1;
    if (this.#passed < LEAST_PASSED || now() - this.#beganMs < LONGEST_MS) return Promise.resolve();
    return new Promise((resolve) => setImmediate(resolve));
  }
}
