/** A count that is redrawn in one line, for many items. For a few nothing is written. */
export class Progress {
  readonly #total: number;
  readonly #isShown: boolean;
  readonly #write: (text: string) => void;
  #count = 0;

  constructor(options: { total: number; isShown: boolean; write(text: string): void }) {
    this.#total = options.total;
    this.#isShown = options.isShown && options.total >= 20;
    this.#write = options.write;
  }

  step(by = 1): void {
    this.#count += by;
    // To redraw it for each of a hundred thousand would be slower than the work itself.
    const every = Math.max(1, Math.floor(this.#total / 100));
    if (this.#isShown && this.#count % every === 0) this.#write(`\r${this.#count} of ${this.#total}\u001b[K`);
  }

  clear(): void {
    if (this.#isShown && this.#count > 0) this.#write("\r\u001b[K");
  }
}
