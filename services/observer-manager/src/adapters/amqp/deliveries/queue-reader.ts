import type { Delivery, Session } from "@unacked/broker";
import { readableBytes } from "@unacked/contracts";
import { type BatchHandler, DeliveryBatches } from "./delivery-batches.ts";
import { ForgottenConsumer } from "./forgotten-consumer.ts";

/**
 * The most bytes held: all that waits here or is being handled is in memory. Four hundred honest messages of 256 KiB have
 * 100 MiB.
 */
const MOST_BYTES = 134_217_728;
/** How many are taken ahead, and for how long, if messages are longer. The longest sixteen have no more bytes (long-messages.ts). */
const FEW = 16;
const FEW_FOR_MS = 300_000;

export interface QueueReaderParts {
  queue: string;
  prefetch: number;
  maxBatch: number;
  /** Called for each delivery when it comes, before it waits. */
  onDelivery?(delivery: Delivery): void;
  handle: BatchHandler;
}

/**
 * Reads one queue in batches, session after session. If the broker forgot the consumer, it ends the session to begin again. It does so,
 * too, if what it holds is far too long together, and then takes few ahead: AMQP counts only messages, and what is given back comes again
 * in its order.
 */
export class QueueReader {
  readonly #parts: QueueReaderParts;
  readonly #batches: DeliveryBatches;
  readonly #forgotten: ForgottenConsumer;
  #session: Session | undefined;
  #takesFew = false;

  constructor(parts: QueueReaderParts) {
    this.#parts = parts;
    this.#batches = new DeliveryBatches(parts.maxBatch, parts.handle);
    this.#forgotten = new ForgottenConsumer(parts.queue, () => this.isIdle);
  }

  async begin(session: Session): Promise<void> {
    const { queue, onDelivery } = this.#parts;
    const prefetch = this.#takesFew ? FEW : this.#parts.prefetch;
    this.#session = session;
    this.#batches.begin(session.lost);
    await session.consume(queue, { prefetch }, (delivery) => {
      this.#forgotten.delivered();
      onDelivery?.(delivery);
      this.#batches.add(delivery);
      if (this.#batches.bytes > MOST_BYTES) this.#takeFew();
    });
    this.#forgotten.begin(session);
  }

  /** Ends the session, so that another manager may try. What is not settled comes again. */
  end(why: string): void {
    this.#session?.end(why);
  }

  #takeFew(): void {
    if (this.#takesFew) return;
    this.#takesFew = true;
    this.end(
      `what is here of ${this.#parts.queue} has over ${readableBytes(MOST_BYTES)}: fewer are taken ahead for a while`,
    );
    const many = (): void => {
      this.#takesFew = false;
      this.end(`as many of ${this.#parts.queue} are taken ahead as before`);
    };
    setTimeout(many, FEW_FOR_MS).unref();
  }

  /** Handles a delivery that was put off. */
  again(delivery: Delivery): void {
    this.#batches.add(delivery);
  }

  /** Whether nothing waits and nothing is being handled. */
  get isIdle(): boolean {
    return this.#batches.isIdle;
  }

  /** How many deliveries wait or are being handled. */
  get size(): number {
    return this.#batches.size;
  }
}
