/** A turn of the event loop for starts, in ms: heartbeats and stops get through in between. A start costs some 0.05 ms. */
const TURN_MS = 5;

/** Runs tasks in order, a slice per turn of the event loop, so that thousands of starts do not hold up stops and heartbeats. */
export class Pacer {
  #tasks: (() => void)[] = [];
  #next = 0;
  readonly #turnMs: number;
  #scheduled = false;

  /** @param turnMs a slice is over when it has taken so long; 0: one task a turn */
  constructor(turnMs = TURN_MS) {
    this.#turnMs = turnMs;
  }

  add(task: () => void): void {
    this.#tasks.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#next >= this.#tasks.length) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      try {
        this.#runSlice();
      } finally {
        this.#schedule();
      }
    });
  }

  #runSlice(): void {
    const endMs = performance.now() + this.#turnMs;
    do {
      const task = this.#tasks[this.#next] as () => void;
      this.#next += 1;
      if (this.#next === this.#tasks.length) this.#forgetDone();
      task();
    } while (this.#next < this.#tasks.length && performance.now() < endMs);
  }

  #forgetDone(): void {
    this.#tasks = [];
    this.#next = 0;
  }
}
