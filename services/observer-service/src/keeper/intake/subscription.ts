import type { Consumer, Delivery, Session } from "@unacked/broker";

/** The consumer of a queue in one session: asked for when something is first taken, then paused and resumed. */
export class Subscription {
  readonly session: Session;
  readonly #queue: string;
  readonly #onDelivery: (delivery: Delivery) => void;
  /** Set from the moment when the consumer is asked for. */
  #asked: Promise<Consumer> | undefined;
  #consumer: Consumer | undefined;

  constructor(session: Session, queue: string, onDelivery: (delivery: Delivery) => void) {
    this.session = session;
    this.#queue = queue;
    this.#onDelivery = onDelivery;
  }

  /** Whether the broker has answered that it consumes, or did before it was paused. */
  get hasBegun(): boolean {
    return this.#consumer !== undefined;
  }

  /** Resolves when the consumer, if one was asked for, is there. */
  async asked(): Promise<void> {
    await this.#asked;
  }

  async begin(prefetch: number): Promise<void> {
    const { session } = this;
    this.#asked = session.consume(this.#queue, { prefetch }, this.#onDelivery);
    const consumer = await this.#asked;
    if (!session.lost.aborted) this.#consumer = consumer;
  }

  /** Nothing more is given until `resume`. Does nothing before it has begun. */
  async pause(): Promise<void> {
    await this.#consumer?.pause();
  }

  async resume(prefetch: number): Promise<void> {
    await this.#consumer?.resume(prefetch);
  }

  /** Resolves when everything that the broker has sent until now has come in. Rejects when the session is lost. */
  async flushed(): Promise<void> {
    await (await this.#asked)?.flushed();
  }
}
