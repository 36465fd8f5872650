import type { Channel, ConsumeMessage } from "amqplib";
import type { BrokerLog } from "./broker-settings.ts";
import { AmqpDelivery } from "./delivery.ts";
import { Returns } from "./returns.ts";
import type { Consumer, Delivery } from "./session.ts";

/** How long a delivery whose handler threw stays unacked before it goes back. If it went back at once, it would spin. */
const REQUEUE_AFTER_THROW_MS = 1_000;

export interface ConsumerParts {
  channel: Channel;
  queue: string;
  noAck: boolean;
  generation: number;
  lost: AbortSignal;
  log: BrokerLog;
  onDelivery: (delivery: Delivery) => void;
  /** The broker took the consumer away. */
  onCancelled: () => void;
  /** Waits for the broker's answer, at most until the session is lost. */
  reply: <T>(what: string, pending: Promise<T>) => Promise<T>;
  /** Does the same, without a limit of its own. */
  patientReply: <T>(what: string, pending: Promise<T>) => Promise<T>;
}

/** Starts to consume on a channel that has its prefetch already. */
export async function startConsumer(parts: ConsumerParts): Promise<Consumer> {
  const { channel, queue, noAck, lost, reply } = parts;
  const origin = { ...parts, returns: new Returns(channel, lost) };
  let cancelling: Promise<void> | undefined;

  const onMessage = (message: ConsumeMessage | null) => {
    if (message === null) return parts.onCancelled();
    if (lost.aborted) return;
    const delivery = new AmqpDelivery(message, origin);
    // It was sent before the broker saw the cancel, and goes back after the cancel, so it does not come here again.
    if (cancelling !== undefined) return void delivery.settle("requeue");
    handOut(delivery, parts);
  };

  let consumerTag: string | undefined;
  const consume = async () => {
    const answer = await reply(`consume queue ${queue}`, channel.consume(queue, onMessage, { noAck }));
    consumerTag = answer.consumerTag;
  };
  const leave = async () => {
    const tag = consumerTag;
    if (tag === undefined) return;
    consumerTag = undefined;
    try {
      await reply(`cancel the consumer of queue ${queue}`, channel.cancel(tag));
    } catch (error) {
      // A lost session has no consumers either.
      if (!lost.aborted) throw error;
    }
  };
  await consume();

  // Calls run one after the other: a cancel that overtook a resume would leave its consumer behind.
  let last: Promise<void> = Promise.resolve();
  const afterThat = (act: () => Promise<void>): Promise<void> => {
    last = last.then(act, act);
    return last;
  };
  const resume = (prefetch: number) =>
    afterThat(async () => {
      if (cancelling !== undefined || lost.aborted) return;
      await leave();
      await reply(`set the prefetch of ${queue}`, channel.prefetch(prefetch));
      if (cancelling === undefined) await consume();
    });
  const flushed = async () => {
    await parts.patientReply(`look at queue ${queue} behind its deliveries`, channel.checkQueue(queue));
  };
  const cancel = () => (cancelling ??= afterThat(leave));
  return { cancel, pause: () => afterThat(leave), resume, flushed };
}

/** A throw must not reach amqplib: it would close the channel, and with it take back every job on it. */
function handOut(delivery: AmqpDelivery, { queue, log, onDelivery }: ConsumerParts): void {
  try {
    onDelivery(delivery);
  } catch (error) {
    const { messageId, type } = delivery.properties;
    log.error({ err: error, queue, messageId, type }, "a delivery's handler threw; the message goes back to its queue");
    setTimeout(() => delivery.settle("requeue"), REQUEUE_AFTER_THROW_MS).unref();
  }
}
