interface Times {
  /** It takes so long in any case. */
  soonestMs: number;
  latestMs: number;
}

/** A wait between two tries that may be ended where there is reason to try again at once. One at a time. */
export class EndableWait {
  #isEnded = false;
  #end = (): void => undefined;

  /** Ends the one that goes on; with none, as while a try is under way whose failure may be of before, the next. */
  end(): void {
    this.#isEnded = true;
    this.#end();
  }

  async wait({ soonestMs, latestMs }: Times): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    if (this.#isEnded) this.#end();
    await Promise.all([pause(soonestMs), Promise.race([pause(latestMs), ended])]);
    this.#isEnded = false;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
