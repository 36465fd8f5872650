import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { TimerFiringStore } from "./timer-store.ts";

const AT_ONCE = 5_000;
const EVERY_MS = 60_000;
const AFTER_FAILURE_MS = 10_000;

export interface TimerRetentionParts {
  store: Pick<TimerFiringStore, "forget">;
  retentionMs: number;
  log: Log;
}

/** Removes timers that were over for long, in small sets. A crash in the middle leaves the others for the next time. */
export class TimerRetention {
  readonly #parts: TimerRetentionParts;
  readonly #loop = new Loop({ round: () => this.#sweep(), failed: (error) => this.#failed(error) });

  constructor(parts: TimerRetentionParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#loop.stop();
    await this.#loop.over;
  }

  async #sweep(): Promise<number> {
    const { store, retentionMs } = this.#parts;
    const gone = await store.forget(retentionMs, AT_ONCE);
    return gone === AT_ONCE ? 0 : EVERY_MS;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "timers that were over for long could not be removed; it is tried again");
    return AFTER_FAILURE_MS;
  }
}
