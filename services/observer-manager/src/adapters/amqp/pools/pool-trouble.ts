import { backoffMs } from "@unacked/contracts";
import type { QueueTrouble } from "../../../domain/overview/facts.ts";
import type { Log } from "../../../operations/log.ts";

/** How long a queue that is refused is left alone. */
const RETRIES = { firstMs: 1_000, maxMs: 30_000 };
/** How long a refusal counts: a start that was refused comes again after a second, while it is refused. */
const NACKED_LATELY_MS = 30_000;
const NACKED: Omit<QueueTrouble, "pool"> = {
  detail: "the broker refuses what is put into it (basic.nack)",
  remedy:
    "Look at the node that leads it, and for a policy that bounds its length (overflow: reject-publish); each start is sent again, once a second.",
};

/** The queue cannot be used now; `trouble` says why. */
export class QueueRefused extends Error {
  override readonly name = "QueueRefused";
  readonly trouble: QueueTrouble;

  constructor(trouble: QueueTrouble) {
    super(`the queue of pool ${trouble.pool}: ${trouble.detail}`);
    this.trouble = trouble;
  }
}

export type Trouble = Omit<QueueTrouble, "pool">;

/** What is wrong with the queue of one pool, for the warnings and for whoever wants to use it; and when it is tried again. */
export class PoolTrouble {
  readonly #pool: string;
  readonly #log: Log;
  #now: QueueTrouble | undefined;
  #nackedAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #retryAtMs = 0;

  constructor(pool: string, log: Log) {
    this.#pool = pool;
    this.#log = log;
  }

  /** Undefined: nothing is. A queue that refuses starts can be used. */
  get shown(): QueueTrouble | undefined {
    const isNacked = performance.now() - this.#nackedAtMs < NACKED_LATELY_MS;
    return this.#now ?? (isNacked ? { pool: this.#pool, ...NACKED } : undefined);
  }

  /** Why the queue cannot be used. Undefined means that it can. */
  get refusal(): QueueRefused | undefined {
    return this.#now && new QueueRefused(this.#now);
  }

  /** It is not tried again yet. */
  get isResting(): boolean {
    return performance.now() < this.#retryAtMs;
  }

  /** The broker has taken a start into the queue, or refused one. */
  told(outcome: "taken" | "nacked"): void {
    this.#nackedAtMs = outcome === "nacked" ? performance.now() : Number.NEGATIVE_INFINITY;
  }

  /** The queue cannot be used, or still cannot. It is tried again after 1 s, then 2, 4 … 30 s. */
  found(why: Trouble): QueueRefused {
    const isNews = why.detail !== this.#now?.detail;
    this.#now = { pool: this.#pool, ...why };
    this.#retryAtMs = performance.now() + backoffMs(RETRIES, this.#failures);
    this.#failures += 1;
    if (isNews)
      this.#log.error({ event: "queue-refused", ...this.#now }, "the queue of a pool is not available, trying again");
    return new QueueRefused(this.#now);
  }

  over(): void {
    this.#failures = 0;
    if (this.#now === undefined) return;
    this.#now = undefined;
    this.#log.info({ event: "queue-there", pool: this.#pool }, "the queue of a pool can be had again");
  }
}
