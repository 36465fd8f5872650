import { connect } from "amqplib";
import type { Management } from "./management.ts";

/** One message as somebody published it. */
export interface TracedMessage {
  exchange: string;
  routingKey: string;
  properties: Record<string, unknown>;
  body: Buffer;
}

export interface MessageTrace {
  /** Every one so far that was published to an exchange of Unacked. */
  readonly messages: TracedMessage[];
  close(): Promise<void>;
}

/** Copies of all that is published in the vhost, by RabbitMQ's own tracer. */
export async function traceMessages(amqpUrl: string, management: Management): Promise<MessageTrace> {
  const messages: TracedMessage[] = [];
  const connection = await connect(amqpUrl);
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue("", { exclusive: true });
  await channel.bindQueue(queue, "amq.rabbitmq.trace", "publish.unacked.#");
  await channel.consume(
    queue,
    (message) => {
      if (message === null) return;
      const { exchange_name, routing_keys, properties } = message.properties.headers as {
        exchange_name: string;
        routing_keys: string[];
        properties: Record<string, unknown>;
      };
      messages.push({ exchange: exchange_name, routingKey: routing_keys[0] ?? "", properties, body: message.content });
    },
    { noAck: true },
  );
  await management.call("PUT", "/vhosts/{vhost}", { tracing: true });
  return { messages, close: () => connection.close() };
}
