/**
 * Loads the folder again when it is asked to, one time after the other. Whoever asks meanwhile is answered by one more time after this
 * one, however many ask. A crash forgets it: the next process loads the folder as it is.
 */
export class Reloading {
  readonly #reload: () => Promise<void>;
  #isUnderWay = false;
  #isWantedAgain = false;

  constructor(reload: () => Promise<void>) {
    this.#reload = reload;
  }

  async ask(): Promise<void> {
    this.#isWantedAgain = true;
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    try {
      while (this.#isWantedAgain) {
        this.#isWantedAgain = false;
        await this.#reload();
      }
    } finally {
      this.#isUnderWay = false;
    }
  }
}
