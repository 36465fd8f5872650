import type { Channel, ConsumeMessage } from "amqplib";

/** This many in a second go back one by one, at once. */
const FEW = 100;
const FEW_WITHIN_MS = 1_000;
/** More than these are collected until none has come for this long … */
const QUIET_MS = 100;
/** … or the first has waited for this long. */
const LONGEST_MS = 1_000;

/**
 * Gives messages of one channel back to their queue: few at once, thousands together. A classic queue puts a returned message into its
 * place by walking past what stands before it (`rabbit_variable_queue:requeue`), once for each frame: ten thousand frames for ten thousand
 * messages took it up to ten seconds. Meanwhile it answered nobody, and their holder lost its lease. So messages with nothing open before
 * them go by one frame (`multiple`: https://www.rabbitmq.com/docs/nack), the others one by one. If the session is lost, the broker itself
 * takes back what is held, likewise in one step.
 */
export class Returns {
  readonly #channel: Channel;
  readonly #lost: AbortSignal;
  /** The delivery tags of messages that are neither acked nor given back, in the order in which they came. */
  readonly #open = new Set<number>();
  #held = new Map<number, ConsumeMessage>();
  #firstAtMs = 0;
  #lastAtMs = 0;
  #fewSinceMs = Number.NEGATIVE_INFINITY;
  #few = 0;

  constructor(channel: Channel, lost: AbortSignal) {
    this.#channel = channel;
    this.#lost = lost;
  }

  /** A message has been delivered. */
  delivered(deliveryTag: number): void {
    this.#open.add(deliveryTag);
  }

  /** The message was acked, so it does not go back. */
  acked(deliveryTag: number): void {
    this.#open.delete(deliveryTag);
  }

  /** Throws like the channel if that is closing or closed. */
  add(message: ConsumeMessage): void {
    const nowMs = performance.now();
    if (nowMs - this.#fewSinceMs >= FEW_WITHIN_MS) {
      this.#fewSinceMs = nowMs;
      this.#few = 0;
    }
    this.#few += 1;
    if (this.#held.size === 0 && this.#few <= FEW) return this.#give(message, false);
    if (this.#held.size === 0) {
      this.#firstAtMs = nowMs;
      setTimeout(() => this.#look(), QUIET_MS);
    }
    this.#lastAtMs = nowMs;
    this.#held.set(message.fields.deliveryTag, message);
  }

  #look(): void {
    const nowMs = performance.now();
    const leftMs = Math.min(this.#lastAtMs + QUIET_MS, this.#firstAtMs + LONGEST_MS) - nowMs;
    if (leftMs > 0) return void setTimeout(() => this.#look(), Math.ceil(leftMs));
    const held = this.#held;
    this.#held = new Map();
    if (this.#lost.aborted) return;
    try {
      this.#giveAll(held);
    } catch {
      // The channel is closing: the session is about to be lost, and the broker takes all of it back.
    }
  }

  #giveAll(held: Map<number, ConsumeMessage>): void {
    let last: ConsumeMessage | undefined;
    for (const tag of this.#open) {
      const message = held.get(tag);
      if (message === undefined) break;
      last = message;
      held.delete(tag);
      this.#open.delete(tag);
    }
    if (last !== undefined) this.#give(last, true);
    for (const message of held.values()) this.#give(message, false);
  }

  /** @param withAllBefore all that was delivered before it and is open yet goes with it */
  #give(message: ConsumeMessage, withAllBefore: boolean): void {
    this.#open.delete(message.fields.deliveryTag);
    this.#channel.nack(message, withAllBefore, true);
  }
}
