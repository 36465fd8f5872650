import type { Channel, ConsumeMessage } from "amqplib";
import type { Delivery, DeliveryProperties } from "./session.ts";

export interface DeliveryOrigin {
  channel: Channel;
  queue: string;
  generation: number;
  lost: AbortSignal;
  noAck: boolean;
}

/** A delivery bound to the generation that brought it. */
export class AmqpDelivery implements Delivery {
  readonly body: Buffer;
  readonly redelivered: boolean;
  readonly properties: DeliveryProperties;
  readonly #origin: DeliveryOrigin;
  readonly #deliveryTag: number;
  #settled = false;

  constructor({ content, fields, properties }: ConsumeMessage, origin: DeliveryOrigin) {
    // A copy: amqplib's buffer is a slice of what the socket read, and a job that is never acked would pin all of that.
    this.body = Buffer.allocUnsafeSlow(content.length);
    content.copy(this.body);
    this.redelivered = fields.redelivered;
    this.properties = pickProperties(properties);
    this.#deliveryTag = fields.deliveryTag;
    this.#origin = origin;
  }

  get queue(): string {
    return this.#origin.queue;
  }

  get generation(): number {
    return this.#origin.generation;
  }

  settle(outcome: "ack" | "requeue"): boolean {
    if (this.#settled || this.#origin.lost.aborted) return false;
    this.#settled = true;
    if (this.#origin.noAck) return true;
    const message = { fields: { deliveryTag: this.#deliveryTag } } as ConsumeMessage;
    try {
      if (outcome === "ack") this.#origin.channel.ack(message);
      else this.#origin.channel.nack(message, false, true);
      return true;
    } catch {
      // amqplib throws on a channel that is closing or closed: nothing was sent, and the session is about to be lost.
      return false;
    }
  }
}

function pickProperties({
  type,
  messageId,
  appId,
  timestamp,
  contentType,
  headers,
}: ConsumeMessage["properties"]): DeliveryProperties {
  return { type, messageId, appId, timestamp, contentType, headers: headers ?? {} };
}
