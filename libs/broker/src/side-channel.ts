import type { Channel, Replies } from "amqplib";
import { type LossReason, lossReason } from "./loss-reason.ts";
import type { QueueDeclaration } from "./queue-declaration.ts";

/** What a side channel waits by: an answer that does not come ends with the session, not before. */
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
 * A channel for what the broker may refuse: the refusal closes this channel and costs the session nothing. After it every
 * call rejects with the same RefusedError. There is no limit on how long an answer may take, but the session's life.
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

  /** The queue and its bindings, to exchanges that are there. Safe to repeat. */
  async declareQueue(queue: QueueDeclaration): Promise<void> {
    const { name, durable, exclusive } = queue;
    const options = { durable, exclusive, arguments: queue.arguments };
    await this.#ask(`declare queue ${name}`, () => this.#channel.assertQueue(name, options));
    await this.bind(queue);
  }

  /** The bindings of a queue that is there, whatever its arguments; it is never made by this. */
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

  /** Safe to repeat, and after a refusal. Resolves with the session's loss at the latest: amqplib says nothing of a close whose answer never comes. */
  async close(): Promise<void> {
    await this.#reply("close a side channel", this.#channel.close()).catch(() => undefined); // it is closed, or goes with the session
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
