import type { Stats } from "@unacked/contracts";
import { CallError, call } from "../wire/call.ts";
import { EndableWait } from "./endable-wait.ts";
import { Signal } from "./signal.ts";

const EVERY_MS = 2_000;
const LIMIT_MS = 15_000;

/** Its document: whether anybody can see it. */
type Page = EventTarget & { readonly hidden: boolean };

/** `GET /stats`, read again and again while somebody can see the page. */
export class LiveStats {
  readonly changed = new Signal();
  stats: Stats | null = null;
  /** When `stats` was read last, by the browser's clock. */
  readAtMs = 0;
  /** Why the last read failed; null when it did not. */
  failure: CallError | null = null;
  #failures = 0;
  /** The read that is under way. */
  #reading: AbortController | null = null;
  readonly #page: Page;
  readonly #wait = new EndableWait();
  readonly #stopping = new AbortController();

  constructor(page: Page) {
    this.#page = page;
  }

  start(): void {
    const { signal } = this.#stopping;
    this.#page.addEventListener("visibilitychange", () => void (!this.#page.hidden && this.#wait.end()), { signal });
    void this.#run(signal);
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** The manager can be reached again: what has failed is not left to stand until its next turn, and what is under way may never be answered. */
  retry(): void {
    this.#failures = 0;
    if (this.#reading !== null) this.#reading.abort();
    else if (this.failure !== null) this.#wait.end();
  }

  async #run(stopping: AbortSignal): Promise<void> {
    while (!stopping.aborted) {
      if (!this.#page.hidden || this.stats === null) await this.#read();
      const soonestMs = (this.failure?.retryAfterS ?? 0) * 1_000;
      const latestMs = Math.min(EVERY_MS * (1 + this.#failures), LIMIT_MS);
      await this.#wait.wait({ soonestMs, latestMs });
    }
  }

  async #read(): Promise<void> {
    const reading = new AbortController();
    this.#reading = reading;
    try {
      this.stats = await call("getStats", {}, reading.signal);
      this.readAtMs = Date.now();
      this.failure = null;
      this.#failures = 0;
    } catch (error) {
      if (reading.signal.aborted) return this.#read();
      this.failure = error instanceof CallError ? error : null;
      this.#failures += 1;
    }
    this.#reading = null;
    this.changed.tell();
  }
}
