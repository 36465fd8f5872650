/**
 * Loads the folder again when it is asked to, one time after the other. Whoever asks meanwhile is answered by one more time after this
 * one, however many ask. A crash forgets it: the next process loads the folder as it is.
 */
export class Reloading<Outcome> {
  readonly #reload: () => Promise<Outcome>;
  #underWay: Promise<unknown> = Promise.resolve();
  /** It has not begun. */
  #next: Promise<Outcome> | undefined;

  constructor(reload: () => Promise<Outcome>) {
    this.#reload = reload;
  }

  /** Resolves with what became of a load that began after this. */
  ask(): Promise<Outcome> {
    this.#next ??= this.#underWay.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<Outcome> {
    this.#next = undefined;
    const outcome = this.#reload();
    this.#underWay = outcome.catch(() => undefined); // who asked is told
    return outcome;
  }
}
