/** A start costs some 0.1 ms and more of the event loop; so many in a row still let heartbeats and stops through in between. */
const STARTS_PER_TURN = 20;

/** Runs tasks in order, a slice per turn of the event loop, so that thousands of starts do not hold up stops and heartbeats. */
export class Pacer {
  readonly #tasks: (() => void)[] = [];
  readonly #perTurn: number;
  #scheduled = false;

  constructor(perTurn = STARTS_PER_TURN) {
    this.#perTurn = perTurn;
  }

  add(task: () => void): void {
    this.#tasks.push(task);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#tasks.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      const slice = this.#tasks.splice(0, this.#perTurn);
      try {
        for (let task = slice.shift(); task !== undefined; task = slice.shift()) task();
      } finally {
        this.#tasks.unshift(...slice);
        this.#schedule();
      }
    });
  }
}
