import type { Delivery, Session } from "@unacked/broker";
import { type BatchHandler, DeliveryBatches } from "./delivery-batches.ts";
import { ForgottenConsumer } from "./forgotten-consumer.ts";

export interface QueueReaderParts {
  queue: string;
  prefetch: number;
  maxBatch: number;
  /** Told of each as it comes, before it waits. */
  onDelivery?(delivery: Delivery): void;
  handle: BatchHandler;
}

/** Reads one queue in batches, session after session; one that the broker forgot is noticed, and begins again. */
export class QueueReader {
  readonly #parts: QueueReaderParts;
  readonly #batches: DeliveryBatches;
  readonly #forgotten: ForgottenConsumer;
  #session: Session | undefined;

  constructor(parts: QueueReaderParts) {
    this.#parts = parts;
    this.#batches = new DeliveryBatches(parts.maxBatch, parts.handle);
    this.#forgotten = new ForgottenConsumer(parts.queue, () => this.isIdle);
  }

  async begin(session: Session): Promise<void> {
    const { queue, prefetch, onDelivery } = this.#parts;
    this.#session = session;
    this.#batches.begin(session.lost);
    await session.consume(queue, { prefetch }, (delivery) => {
      this.#forgotten.delivered();
      onDelivery?.(delivery);
      this.#batches.add(delivery);
    });
    this.#forgotten.begin(session);
  }

  /** Ends the session, so that another manager may try; what is not settled comes again. */
  end(why: string): void {
    this.#session?.end(why);
  }

  /** One that was put off is to be handled now. */
  again(delivery: Delivery): void {
    this.#batches.add(delivery);
  }

  /** Nothing waits and nothing is being handled. */
  get isIdle(): boolean {
    return this.#batches.isIdle;
  }

  /** How many wait or are being handled. */
  get size(): number {
    return this.#batches.size;
  }
}
