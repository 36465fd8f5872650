/**
 * Longer than another manager keeps the queue before it gives up: a failure that goes round all managers still counts as
 * one.
 */
const HOLDS_MS = 30_000;

/** Tracks what fails again and again, by how long nothing has succeeded since the first failure. */
export class Retries {
  #sinceMs: number | undefined;
  #lastMs = 0;
  #why = "";

  failed(error: unknown): void {
    this.#lastMs = performance.now();
    this.#sinceMs ??= this.#lastMs;
    this.#why = error instanceof Error ? error.name : String(error);
  }

  succeeded(): void {
    this.#sinceMs = undefined;
  }

  /** For how long it has failed, in ms; 0 if the last try went well, or nothing was tried for a while. */
  get failingForMs(): number {
    const nowMs = performance.now();
    if (this.#sinceMs !== undefined && nowMs - this.#lastMs > HOLDS_MS) this.#sinceMs = undefined;
    return this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs;
  }

  /** The name of the last error, as its message may quote data. */
  get why(): string {
    return this.#why;
  }
}
