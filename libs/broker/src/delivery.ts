import type { Channel, ConsumeMessage } from "amqplib";
import type { Returns } from "./returns.ts";
import type { Delivery, DeliveryProperties } from "./session.ts";

export interface DeliveryOrigin {
  channel: Channel;
  returns: Returns;
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
  readonly deliveryCount: number;
  readonly #origin: DeliveryOrigin;
  readonly #deliveryTag: number;
  #settled = false;

  constructor({ content, fields, properties }: ConsumeMessage, origin: DeliveryOrigin) {
    this.#body = content;
    this.redelivered = fields.redelivered;
    this.deliveryCount = countDeliveries(properties.headers);
    this.#properties = pickProperties(properties);
    this.#deliveryTag = fields.deliveryTag;
    this.#origin = origin;
    if (!origin.noAck) origin.returns.delivered(fields.deliveryTag);
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
      if (outcome === "requeue") this.#origin.returns.add(message);
      else {
        this.#origin.returns.acked(this.#deliveryTag);
        this.#origin.channel.ack(message);
      }
      return true;
    } catch {
      // amqplib throws on a channel that is closing or closed: nothing was sent, and the session is about to be lost.
      return false;
    }
  }
}

/**
 * Counts how often the message was given out. `x-delivery-count` counts every return until RabbitMQ 3.13, but in 4.x only
 * failed ones: there `x-acquired-count` counts all. The sum grows with each redelivery on every version, also over an
 * upgrade with the message in its queue.
 */
function countDeliveries(headers: ConsumeMessage["properties"]["headers"]): number {
  const sum = count(headers?.["x-delivery-count"]) + count(headers?.["x-acquired-count"]);
  return Math.min(sum, 2_147_483_647);
}

const count = (header: unknown): number => (typeof header === "number" && header > 0 ? header : 0);

function pickProperties({
  type,
  messageId,
  appId,
  timestamp,
  contentType,
  userId,
  replyTo,
  correlationId,
  headers,
}: ConsumeMessage["properties"]): DeliveryProperties {
  return { type, messageId, appId, timestamp, contentType, userId, replyTo, correlationId, headers: headers ?? {} };
}
