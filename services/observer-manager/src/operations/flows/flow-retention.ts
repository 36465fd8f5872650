import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import type { FlowFollowStore } from "./flow-store.ts";

const AT_ONCE = 500;
const EVERY_MS = 60_000;
const AFTER_FAILURE_MS = 10_000;

export interface FlowRetentionParts {
  store: Pick<FlowFollowStore, "forget">;
  retentionMs: number;
  log: Log;
}

/** Removes flows that were over for long, some at a time, with all that was kept of them. A crash in the middle leaves the others for the next time. */
export class FlowRetention {
  readonly #parts: FlowRetentionParts;
  readonly #loop = new Loop({ round: () => this.#sweep(), failed: (error) => this.#failed(error) });

  constructor(parts: FlowRetentionParts) {
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
    return (await store.forget(retentionMs, AT_ONCE)) === 0 ? EVERY_MS : 0;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "flows that were over for long could not be removed; it is tried again");
    return AFTER_FAILURE_MS;
  }
}
