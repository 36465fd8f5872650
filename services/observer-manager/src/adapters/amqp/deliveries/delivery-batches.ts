import type { Delivery } from "@unacked/broker";

/** Handles deliveries that arrived together; resolves when all of them are settled. */
export type BatchHandler = (deliveries: Delivery[], lost: AbortSignal) => Promise<void>;

/**
 * Collects deliveries while the last batch is being handled, so that a batch is as large as the load makes it: one when
 * quiet, hundreds when busy. Batches run one at a time, in order. Deliveries of a lost session are dropped: they come again.
 */
export class DeliveryBatches {
  readonly #maxBatch: number;
  readonly #handle: BatchHandler;
  #waiting: Delivery[] = [];
  #waitingBytes = 0;
  #isBusy = false;
  #inHand: readonly Delivery[] = [];
  #lost: AbortSignal = AbortSignal.abort();

  constructor(maxBatch: number, handle: BatchHandler) {
    this.#maxBatch = maxBatch;
    this.#handle = handle;
  }

  /** Whether nothing waits and nothing is being handled. */
  get isIdle(): boolean {
    return !this.#isBusy && this.#waiting.length === 0;
  }

  /** How many deliveries wait or are being handled. */
  get size(): number {
    return this.#waiting.length + this.#inHand.length;
  }

  /** The bytes of the bodies that wait or are being handled. A handler releases what it has settled. */
  get bytes(): number {
    return this.#inHand.reduce((sum, { body }) => sum + body.length, this.#waitingBytes);
  }

  /** Begins with a new session; whatever is left of the last one is dropped. */
  begin(lost: AbortSignal): void {
    this.#lost = lost;
    this.#drop();
  }

  add(delivery: Delivery): void {
    this.#waiting.push(delivery);
    this.#waitingBytes += delivery.body.length;
    if (!this.#isBusy) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#isBusy = true;
    try {
      while (this.#waiting.length > 0 && !this.#lost.aborted) {
        const batch = this.#waiting.splice(0, this.#maxBatch);
        for (const { body } of batch) this.#waitingBytes -= body.length;
        this.#inHand = batch;
        await this.#handle(batch, this.#lost);
      }
    } finally {
      this.#isBusy = false;
      this.#inHand = [];
      if (this.#lost.aborted) this.#drop();
      else if (this.#waiting.length > 0) void this.#drain();
    }
  }

  #drop(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}
