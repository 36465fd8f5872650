/**
 * How long one turn of the event loop may take for starts, in ms. Heartbeats and stops get through in between. A start costs
 * some 0.05 ms.
 */
const TURN_MS = 5;

/**
 * Does things in order, a slice in each turn of the event loop, so that thousands of starts do not hold up stops and heartbeats.
 */
export class Pacer<Item> {
  readonly #act: (item: Item) => void;
  #items: Item[] = [];
  #next = 0;
  readonly #turnMs: number;
  #scheduled = false;

  /** @param turnMs a slice is over when it has taken so long; 0: one item a turn */
  constructor(act: (item: Item) => void, turnMs = TURN_MS) {
    this.#act = act;
    this.#turnMs = turnMs;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#next >= this.#items.length) return;
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
      const item = this.#items[this.#next] as Item;
      this.#next += 1;
      if (this.#next === this.#items.length) this.#forgetDone();
      this.#act(item);
    } while (this.#next < this.#items.length && performance.now() < endMs);
  }

  #forgetDone(): void {
    this.#items = [];
    this.#next = 0;
  }
}
