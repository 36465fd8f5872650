import type { Channel } from "amqplib";
import { type LossReason, lossReason } from "./loss-reason.ts";
import type { SessionLoss } from "./session-loss.ts";

// amqplib says this and closes the connection: after a cancel for its timeout, RabbitMQ 4.3 goes on delivering to that consumer.
const SENT_TO_CANCELLED = /^Unknown consumer: /;

export interface CancelledConsumerParts {
  loss: SessionLoss;
  /** The session's control channel. Undefined: it is not open yet. */
  control(): Channel | undefined;
  /** Told a moment after the loss, when more is known about it. */
  explained(reason: LossReason): void;
}

/** The broker has cancelled a consumer: the session is lost by that, and the reason is found out. */
export class CancelledConsumer {
  readonly #parts: CancelledConsumerParts;
  #sentToCancelled = false;
  #explaining: Promise<void> = Promise.resolve();

  constructor(parts: CancelledConsumerParts) {
    this.#parts = parts;
  }

  cancelled(queue: string): void {
    this.#explaining = this.#explain(queue);
  }

  /** The whole connection has closed. */
  closed(cause: unknown): void {
    if (cause instanceof Error && SENT_TO_CANCELLED.test(cause.message)) this.#sentToCancelled = true;
  }

  /** Resolves when the reason is found, or cannot be. Until then the control channel is needed. */
  get over(): Promise<void> {
    return this.#explaining;
  }

  /**
   * RabbitMQ 4.3 and later cancel the consumer of a quorum queue that keeps messages unacked for longer than
   * `consumer_timeout`, in the very words in which they tell that a queue is gone: that it is still there tells which it
   * was. Its messages may run elsewhere by now, so the session is lost first, and the reason found afterwards.
   */
  async #explain(queue: string): Promise<void> {
    this.#parts.loss.lose(lossReason("consumer-cancelled", `the broker cancelled the consumer of queue ${queue}`));
    if (!(await this.#isStillThere(queue))) return;
    const detail = `the broker took back messages of queue ${queue} that stayed unacked for long, and cancelled its consumer`;
    this.#parts.explained(lossReason("consumer-timeout", detail));
  }

  /** False also if the connection was lost before it could answer. */
  async #isStillThere(queue: string): Promise<boolean> {
    try {
      const control = this.#parts.control();
      await control?.checkQueue(queue);
      return control !== undefined;
    } catch {
      return this.#sentToCancelled;
    }
  }
}
