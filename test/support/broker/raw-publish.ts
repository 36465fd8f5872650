import { randomUUID } from "node:crypto";
import { type ConfirmChannel, type ConsumeMessage, connect } from "amqplib";

/** What a timer's message has beside its body. */
const propertiesOfOne = () => ({
  persistent: true,
  mandatory: true,
  type: "Timer",
  messageId: randomUUID(),
  appId: "0191d3c0-0000-7000-8000-000000000000",
  headers: { at: "2026-01-01T00:00:00.000Z", name: "t.1" },
});

/** How many confirmed, persistent, mandatory messages, as large as timers of this body, a plain client publishes a second to a topic exchange with a listener. */
export async function rawPublishRate(url: string, count: number, body: Buffer, atOnce = 2_000): Promise<number> {
  const model = await connect(url);
  const channel = await model.createConfirmChannel();
  const listening = await model.createChannel();
  const exchange = "raw-publishes";
  await channel.assertExchange(exchange, "topic", { durable: true });
  const { queue } = await listening.assertQueue("", { exclusive: true });
  await listening.bindQueue(queue, exchange, "#");
  // As TimerListener does: what it costs to listen is the same on both sides.
  const heard: { message: ConsumeMessage; heardAtMs: number }[] = [];
  const take = (message: ConsumeMessage | null) => {
    if (message !== null) heard.push({ message, heardAtMs: Date.now() });
  };
  await listening.consume(queue, take, { noAck: true });
  const before = performance.now();
  await publishAll(channel, exchange, count, body, atOnce);
  const rate = count / ((performance.now() - before) / 1_000);
  if (heard.length > count) throw new Error(`${heard.length} of ${count} were heard`);
  await channel.deleteExchange(exchange);
  await model.close();
  return rate;
}

function publishAll(channel: ConfirmChannel, exchange: string, count: number, body: Buffer, atOnce: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let [sent, confirmed] = [0, 0];
    const next = () => {
      for (; sent < count && sent - confirmed < atOnce; sent += 1)
        channel.publish(exchange, "t.1", body, propertiesOfOne(), (error) => {
          if (error) return reject(error as Error);
          confirmed += 1;
          if (confirmed === count) resolve();
          else if (count - sent > 0 && sent - confirmed < atOnce / 2) next();
        });
    };
    next();
  });
}
