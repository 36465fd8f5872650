import { setTimeout as sleep } from "node:timers/promises";

/**
 * Shares what takes long to read among many who ask for it again and again. A reading begins at most every so many ms, and whoever asks
 * meanwhile waits for the next that begins: so it is one reading for all of them, and each sees what was changed before they asked. None
 * waits for another to end, which may never do so.
 */
export class SharedReading<T> {
  readonly #read: () => Promise<T>;
  readonly #everyMs: number;
  #begunAtMs = Number.NEGATIVE_INFINITY;
  /** The reading that has not begun yet. */
  #next: Promise<T> | undefined;

  constructor(read: () => Promise<T>, everyMs: number) {
    this.#read = read;
    this.#everyMs = everyMs;
  }

  get(): Promise<T> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<T> {
    await sleep(Math.max(0, this.#begunAtMs + this.#everyMs - performance.now()));
    this.#next = undefined;
    this.#begunAtMs = performance.now();
    return this.#read();
  }
}
