/**
 * Loads the folder again when it is asked to, one time after the other. All who ask meanwhile are answered by one more load after this
 * one. A crash forgets it: the next process loads the folder as it is.
 */
export class Reloading<Outcome> {
  readonly #reload: () => Promise<Outcome>;
  #underWay: Promise<unknown> = Promise.resolve();
  /** The next load, which has not begun. */
  #next: Promise<Outcome> | undefined;

  constructor(reload: () => Promise<Outcome>) {
    this.#reload = reload;
  }

  /** Resolves with the outcome of a load that began after this call. */
  ask(): Promise<Outcome> {
    this.#next ??= this.#underWay.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<Outcome> {
    this.#next = undefined;
    const outcome = this.#reload();
    this.#underWay = outcome.catch(() => undefined); // the caller is told
    return outcome;
  }
}
