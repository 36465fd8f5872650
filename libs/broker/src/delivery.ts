import type { Channel, ConsumeMessage } from "amqplib";
import type { Delivery, DeliveryProperties } from "./session.ts";

export interface DeliveryOrigin {
  channel: Channel;
  queue: string;
  generation: number;
  lost: AbortSignal;
  noAck: boolean;
}

const EMPTY_BODY = Buffer.alloc(0);
const NO_PROPERTIES: DeliveryProperties = { headers: {} };

/** A delivery bound to the generation that brought it. */
export class AmqpDelivery implements Delivery {
  #body: Buffer;
  #properties: DeliveryProperties;
  readonly redelivered: boolean;
  readonly #origin: DeliveryOrigin;
  readonly #deliveryTag: number;
  #settled = false;

  constructor({ content, fields, properties }: ConsumeMessage, origin: DeliveryOrigin) {
    this.#body = content;
    this.redelivered = fields.redelivered;
    this.#properties = pickProperties(properties);
    this.#deliveryTag = fields.deliveryTag;
    this.#origin = origin;
  }

  get body(): Buffer {
    return this.#body;
  }

  get properties(): DeliveryProperties {
    return this.#properties;
  }

  shed(): void {
    this.#body = EMPTY_BODY;
    this.#properties = NO_PROPERTIES;
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
