import { OneReading } from "./one-reading.ts";

/**
 * Something that is asked again and again, one call at a time. An answer that takes longer than the time between two looks is waited
 * for: dropped for the next one it would never be seen, and a manager that is slow would have ever more to answer. Another question
 * does not wait: the one before is broken off.
 */
export class Question {
  #text: string | null = null;
  #reading = new OneReading();
  #leaving = new AbortController();

  /** @param text what is asked; null: nothing any more @param read never rejects, and tells nobody once its signal is aborted */
  ask(text: string | null, read: (signal: AbortSignal) => Promise<void>): void {
    if (text !== this.#text) {
      this.#leaving.abort();
      this.#leaving = new AbortController();
      this.#reading = new OneReading();
      this.#text = text;
    }
    if (text === null) return;
    const { signal } = this.#leaving;
    this.#reading.ask(() => read(signal));
  }
}
