import type { Channel, ConsumeMessage } from "amqplib";
import { describeCause } from "./loss-reason.ts";
import type { SettleGiven } from "./session.ts";

/** The lowest priority: this consumer is given a message only when no other has room for it. */
const PRIORITY = -1_000;

/** The code NOT_FOUND of the AMQP 0-9-1 specification. */
const NOT_FOUND = 404;

/**
 * The queue does not exist (any more): it was deleted, or is a classic one whose node is down. Messages of it that are still held are lost
 * to their holders, and go to others when the queue is back. The broker tells a consumer of the queue by a cancel; one that only holds
 * messages is not told.
 */
export class QueueMissingError extends Error {
  readonly code = "queue-missing";
  override readonly name = "QueueMissingError";

  constructor(queue: string, cause: unknown) {
    super(`Cannot reach queue ${queue}: ${describeCause(cause)}`, { cause });
  }
}

export interface QueueProofParts {
  openChannel: () => Promise<Channel>;
  /** Waits for the broker's answer, at most until the session is lost. */
  reply: <T>(what: string, pending: Promise<T>) => Promise<T>;
}

/**
 * Proves that a queue itself answers on this connection, by becoming its consumer for a moment: of a quorum queue its majority
 * has to agree to that, of a classic one its node. (A passive declare is answered from what the nearest node remembers; a get costs
 * the whole connection when the leader is lost.) Guarantees: what it is given goes back as it came. A crash, or a closed channel,
 * leaves that to the broker.
 */
export class QueueProof {
  readonly #parts: QueueProofParts;
  #channel: Channel | undefined;

  constructor(parts: QueueProofParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the queue has answered. A refusal closes its own channel alone, and is no proof.
   * @throws QueueMissingError
   * @param settle told of each message that it was given, and says what becomes of it
   */
  async take(queue: string, settle: SettleGiven): Promise<void> {
    const { reply } = this.#parts;
    const channel = this.#channel ?? (await this.#open());
    const given: ConsumeMessage[] = [];
    let isGone = false; // the broker tells every consumer of the queue so
    const keep = (message: ConsumeMessage | null) => {
      if (message === null) isGone = true;
      else given.push(message);
    };
    const consuming = channel.consume(queue, keep, { priority: PRIORITY }).catch((error: unknown) => {
      throw (error as { code?: unknown }).code === NOT_FOUND ? new QueueMissingError(queue, error) : error;
    });
    const { consumerTag } = await reply(`reach queue ${queue}`, consuming);
    await reply(`leave queue ${queue}`, channel.cancel(consumerTag));
    // Only after the cancel: a message that goes back to a consumer that still exists would come again.
    for (const message of given) {
      const outcome = settle({ body: message.content, type: String(message.properties.type) });
      if (outcome === "ack") channel.ack(message);
      else channel.nack(message, false, true);
    }
    if (isGone) throw new QueueMissingError(queue, "the broker cancelled its consumer");
  }

  async #open(): Promise<Channel> {
    const { openChannel, reply } = this.#parts;
    const channel = await reply("open the channel for proofs", openChannel());
    // The rejection of the request reports the error.
    channel.on("error", () => undefined);
    channel.on("close", () => {
      this.#channel = undefined;
    });
    await reply("set the prefetch of proofs", channel.prefetch(1));
    this.#channel = channel;
    return channel;
  }
}
