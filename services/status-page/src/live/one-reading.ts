/** Reads one at a time. Of what is asked for meanwhile the last is read after that, so that nobody is left with what was before. */
export class OneReading {
  #isReading = false;
  #next: (() => Promise<void>) | undefined;

  /** @param read never rejects */
  ask(read: () => Promise<void>): void {
    this.#next = read;
    if (!this.#isReading) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isReading = true;
    for (let read = this.#take(); read !== undefined; read = this.#take()) await read();
    this.#isReading = false;
  }

  #take(): (() => Promise<void>) | undefined {
    const next = this.#next;
    this.#next = undefined;
    return next;
  }
}
