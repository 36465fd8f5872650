import type { Stats } from "@unacked/contracts";
import { CallError, call } from "../wire/call.ts";
import { EndableWait } from "./endable-wait.ts";
import { Signal } from "./signal.ts";

const EVERY_MS = 2_000;
const LIMIT_MS = 15_000;

/** `GET /stats`, read again and again while somebody can see the page. */
export class LiveStats {
  readonly changed = new Signal();
  stats: Stats | null = null;
  /** When `stats` was read last, by the browser's clock. */
  readAtMs = 0;
  /** Why the last read failed; null when it did not. */
  failure: CallError | null = null;
  #failures = 0;
  readonly #wait = new EndableWait();
  readonly #stopping = new AbortController();

  start(): void {
    const { signal } = this.#stopping;
    document.addEventListener("visibilitychange", () => void (!document.hidden && this.#wait.end()), { signal });
    void this.#run(signal);
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** The manager can be reached again: what has failed is not left to stand until its next turn. */
  retry(): void {
    if (this.failure === null) return;
    this.#failures = 0;
    this.#wait.end();
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      if (!document.hidden || this.stats === null) await this.#read();
      const soonestMs = (this.failure?.retryAfterS ?? 0) * 1_000;
      const latestMs = Math.min(EVERY_MS * (1 + this.#failures), LIMIT_MS);
      await this.#wait.wait({ soonestMs, latestMs });
    }
  }

  async #read(): Promise<void> {
    try {
      this.stats = await call("getStats", {});
      this.readAtMs = Date.now();
      this.failure = null;
      this.#failures = 0;
    } catch (error) {
      this.failure = error instanceof CallError ? error : null;
      this.#failures += 1;
    }
    this.changed.tell();
  }
}
