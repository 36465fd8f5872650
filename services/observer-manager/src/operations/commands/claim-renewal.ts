import type { DueCommand } from "./command-store.ts";

const RENEW_EVERY_MS = 3_000;

/**
 * Keeps commands of one claim claimed for as long as they are on their way, however long the broker takes: all by one statement, and
 * never two at a time, as each locks what it renews.
 */
export class ClaimRenewal {
  readonly #renew: (due: DueCommand[]) => Promise<void>;
  readonly #held = new Set<DueCommand[]>();
  #timer: NodeJS.Timeout | undefined;
  #renewal: Promise<void> | undefined;

  /** @param renew never rejects */
  constructor(renew: (due: DueCommand[]) => Promise<void>) {
    this.#renew = renew;
  }

  /**
   * @returns lets go of them; it resolves when none of them is being renewed: what is locked could not be settled, and would be sent again
   */
  hold(due: DueCommand[]): () => Promise<void> {
    this.#held.add(due);
    this.#timer ??= setInterval(() => this.#renewAll(), RENEW_EVERY_MS);
    return async () => {
      this.#held.delete(due);
      if (this.#held.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
      await this.#renewal;
    };
  }

  #renewAll(): void {
    this.#renewal ??= this.#renew([...this.#held].flat()).finally(() => (this.#renewal = undefined));
  }
}
