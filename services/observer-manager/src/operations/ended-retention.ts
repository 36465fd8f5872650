import type { Log } from "./log.ts";
import { Loop } from "./loop.ts";

const EVERY_MS = 60_000;
const FAILED_PAUSE_MS = 10_000;

export interface EndedRetentionParts {
  /** What the log calls them: `timers`. */
  what: string;
  /** Removes some of those that ended longer ago, by its own measure of how many. @returns how many */
  forget(olderThanMs: number): Promise<number>;
  retentionMs: number;
  log: Log;
}

/** Removes what was over for long, in small sets until none is left. A crash in the middle leaves the others for the next time. */
export class EndedRetention {
  readonly #parts: EndedRetentionParts;
  readonly #loop = new Loop({ round: () => this.#sweep(), failed: (error) => this.#failed(error) });

  constructor(parts: EndedRetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #sweep(): Promise<number> {
    const { forget, retentionMs } = this.#parts;
    return (await forget(retentionMs)) === 0 ? EVERY_MS : 0;
  }

  #failed(error: unknown): number {
    const { log, what } = this.#parts;
    log.warn({ err: error }, `${what} that were over for long could not be removed; it is tried again`);
    return FAILED_PAUSE_MS;
  }
}
