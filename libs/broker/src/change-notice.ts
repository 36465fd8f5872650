/** Lets callers wait for the next change of something that they then look at themselves. */
export class ChangeNotice {
  readonly #wakes = new Set<() => void>();

  notify(): void {
    for (const wake of [...this.#wakes]) wake();
  }

  /** Resolves at the next notify(). Rejects with the signal's reason when that is aborted first. */
  next(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        this.#wakes.delete(wake);
        signal?.removeEventListener("abort", abort);
      };
      const wake = () => {
        finish();
        resolve();
      };
      const abort = () => {
        finish();
        reject(signal?.reason);
      };
      this.#wakes.add(wake);
      signal?.addEventListener("abort", abort);
      if (signal?.aborted) abort();
    });
  }
}
