/**
 * The checkpoints of a worker, counted from 1 in each run. One is being saved at a time, the latest waits for it: a worker that
 * says more of them than are saved keeps no more than that in memory.
 */
export class WorkerSaves {
  readonly #save: (value: unknown) => Promise<void>;
  readonly #onSaved: (number: number) => void;
  readonly #onRefused: (error: unknown) => void;
  #taken = 0;
  #waiting: { readonly number: number; readonly value: unknown } | undefined;
  #isSaving = false;
  #isOver = false;
  readonly #open = new Set<Promise<void>>();

  /**
   * @param save rejects where it could not be saved
   * @param onSaved the next run starts with the checkpoint of this number, or with a later one
   * @param onRefused one was not saved; none is from then on
   */
  constructor(
    save: (value: unknown) => Promise<void>,
    onSaved: (number: number) => void,
    onRefused: (error: unknown) => void,
  ) {
    this.#save = save;
    this.#onSaved = onSaved;
    this.#onRefused = onRefused;
  }

  take(value: unknown): void {
    this.#taken += 1;
    if (this.#isOver) return;
    this.#waiting = { number: this.#taken, value };
    if (!this.#isSaving) this.#next();
  }

  /** The worker is over: what waits is handed over beside what is being saved. */
  finish(): void {
    if (!this.#isOver && this.#waiting !== undefined) this.#next();
    this.#isOver = true;
  }

  /** Resolves when what was handed over is saved or refused. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** What waits, and what comes, is not saved. */
  discard(): void {
    this.#isOver = true;
    this.#waiting = undefined;
  }

  #next(): void {
    const next = this.#waiting;
    this.#waiting = undefined;
    this.#isSaving = next !== undefined;
    if (next === undefined) return;
    const saving = this.#save(next.value)
      .then(
        () => {
          this.#onSaved(next.number);
          this.#next();
        },
        (error: unknown) => {
          this.discard();
          this.#onRefused(error);
        },
      )
      .finally(() => this.#open.delete(saving));
    this.#open.add(saving);
  }
}
