import type { ConfirmChannel as AmqpConfirmChannel } from "amqplib";
import { HeadersAgain } from "./headers-again.ts";

/** A message with everything that goes onto the wire. */
export interface WireMessage {
  exchange: string;
  routingKey: string;
  body: Buffer;
  type: string;
  messageId: string;
  appId: string;
  persistent: boolean;
  mandatory: boolean;
  expirationMs: number | undefined;
  correlationId: string | undefined;
  headers: Record<string, unknown>;
  contentType: string;
  /** Seconds since the epoch. */
  timestampS: number;
}

export interface ConfirmHooks {
  /** The broker took (or, `ok` false, refused) the message with this tag; with `multiple`, all up to it. */
  onConfirm(tag: number, multiple: boolean, ok: boolean): void;
  /** No queue took the message. It comes before the message's confirm, which still says ok. */
  onReturn(messageId: string, why: string): void;
  /** There is room to send again. Never comes after a loss. */
  onDrain(): void;
}

/** A channel in confirm mode: sends, and tells what became of it by tag. */
export class ConfirmChannel {
  readonly #channel: AmqpConfirmChannel;
  readonly #headers = new HeadersAgain();
  #lastTag = 0;

  constructor(channel: AmqpConfirmChannel, hooks: ConfirmHooks) {
    this.#channel = channel;
    channel.on("ack", ({ deliveryTag, multiple }) => hooks.onConfirm(deliveryTag, multiple, true));
    channel.on("nack", ({ deliveryTag, multiple }) => hooks.onConfirm(deliveryTag, multiple, false));
    channel.on("drain", () => hooks.onDrain());
    channel.on("return", ({ fields, properties }) => {
      const { replyText } = fields as { replyText?: string };
      hooks.onReturn(
        String(properties.messageId),
        `${replyText ?? "NO_ROUTE"} for exchange '${fields.exchange}', key '${fields.routingKey}'`,
      );
    });
  }

  /**
   * Hands the message to the socket's buffer. If `hasRoom` is false, wait for onDrain before the next. Throws, with nothing
   * sent, if the message cannot be encoded or the channel is closed.
   */
  send(message: WireMessage): { tag: number; hasRoom: boolean } {
    const hasRoom = this.#channel.publish(message.exchange, message.routingKey, message.body, {
      type: message.type,
      messageId: message.messageId,
      appId: message.appId,
      persistent: message.persistent,
      mandatory: message.mandatory,
      expiration: message.expirationMs,
      correlationId: message.correlationId,
      headers: this.#headers.lend(message.headers),
      contentType: message.contentType,
      timestamp: message.timestampS,
    });
    this.#lastTag += 1;
    return { tag: this.#lastTag, hasRoom };
  }
}
