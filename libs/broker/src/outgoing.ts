import type { WireMessage } from "./confirm-channel.ts";
import { PublishError } from "./publish-error.ts";

export interface Outgoing {
  exchange: string;
  routingKey: string;
  /** Sent as JSON; a Buffer is sent as it is (and should be JSON). It is read once, when publish() is called. */
  body: unknown;
  type: string;
  /** Unique per publish. */
  messageId: string;
  appId: string;
  /** Default true. */
  persistent?: boolean;
  /** Default true: a message that no queue takes is a failure. */
  mandatory?: boolean;
  /** The broker drops the message if it comes to the head of its queue later than this. Default: never. */
  expirationMs?: number;
  /** The id of the message that this answers. */
  correlationId?: string;
  /** `v: 1` is added. */
  headers?: Record<string, unknown>;
}

/** Throws a PublishError `invalid` if the body has no JSON. */
export function encodeOutgoing(message: Outgoing): WireMessage {
  const { exchange, routingKey, type, messageId, appId, persistent = true, mandatory = true, headers } = message;
  const { expirationMs, correlationId } = message;
  return {
    exchange,
    routingKey,
    type,
    messageId,
    appId,
    persistent,
    mandatory,
    expirationMs,
    correlationId,
    body: encodeBody(message),
    headers: { ...headers, v: 1 },
    contentType: "application/json",
    timestampS: Math.floor(Date.now() / 1_000),
  };
}

function encodeBody({ body, messageId }: Outgoing): Buffer {
  if (Buffer.isBuffer(body)) return body;
  try {
    const json = JSON.stringify(body) as string | undefined;
    if (json === undefined) throw new TypeError("the body has no JSON");
    return Buffer.from(json);
  } catch (error) {
    throw new PublishError("invalid", messageId, `Cannot send: ${(error as Error).message}`, { cause: error });
  }
}
