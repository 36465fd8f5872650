import type { Channel, Replies } from "amqplib";
import { type LossReason, lossReason } from "./loss-reason.ts";
import type { QueueDeclaration } from "./queue-declaration.ts";

/** How a side channel waits: an answer that does not come ends only with the session. */
type Reply = <T>(what: string, pending: Promise<T>) => Promise<T>;

/** The broker refused something on a side channel, and closed that channel alone. */
export class RefusedError extends Error {
  readonly code = "refused";
  override readonly name = "RefusedError";
  readonly reason: LossReason;

  constructor(what: string, reason: LossReason) {
    super(`Cannot ${what}: ${reason.detail}`);
    this.reason = reason;
  }
}

/**
 * A channel for what the broker may refuse: a refusal closes this channel, but does not end the session. After it every call
 * rejects with the same RefusedError. An answer may take as long as the session lives.
 */
export class SideChannel {
  readonly #channel: Channel;
  readonly #reply: Reply;
  #refusal: LossReason | undefined;

  constructor(channel: Channel, reply: Reply) {
    this.#channel = channel;
    this.#reply = reply;
    channel.on("error", (error: Error) => {
      this.#refusal = lossReason("channel-closed", error);
    });
  }

  /** Declares the queue and its bindings to existing exchanges. Safe to repeat. */
  async declareQueue(queue: QueueDeclaration): Promise<void> {
    const { name, durable, exclusive } = queue;
    const options = { durable, exclusive, arguments: queue.arguments };
    await this.#ask(`declare queue ${name}`, () => this.#channel.assertQueue(name, options));
    await this.bind(queue);
  }

  /** Declares only the bindings of an existing queue, whatever its arguments; it never creates the queue. */
  async keepQueue(queue: QueueDeclaration): Promise<void> {
    await this.inspect(queue.name);
    await this.bind(queue);
  }

  async bind({ name, bindings }: QueueDeclaration): Promise<void> {
    for (const { exchange, routingKey } of bindings)
      await this.#ask(`bind queue ${name} to ${exchange.name}`, () =>
        this.#channel.bindQueue(name, exchange.name, routingKey),
      );
  }

  inspect(queue: string): Promise<Replies.AssertQueue> {
    return this.#ask(`look at queue ${queue}`, () => this.#channel.checkQueue(queue));
  }

  /**
   * @param only under these conditions, decided by the broker; a quorum queue knows neither, and closes the connection
   * @returns how many messages went with it
   */
  async delete(queue: string, only: { ifUnused?: boolean; ifEmpty?: boolean }): Promise<number> {
    const { messageCount } = await this.#ask(`delete queue ${queue}`, () => this.#channel.deleteQueue(queue, only));
    return messageCount;
  }

  /**
   * Safe to repeat, and after a refusal. Resolves when the session is lost at the latest: amqplib does not tell of a close whose answer
   * never comes.
   */
  async close(): Promise<void> {
    await this.#reply("close a side channel", this.#channel.close()).catch(() => undefined); // closed already, or ends with the session
  }

  async #ask<T>(what: string, act: () => Promise<T>): Promise<T> {
    if (this.#refusal !== undefined) throw new RefusedError(what, this.#refusal);
    try {
      return await this.#reply(what, act());
    } catch (error) {
      throw this.#refusal === undefined ? error : new RefusedError(what, this.#refusal);
    }
  }
}
