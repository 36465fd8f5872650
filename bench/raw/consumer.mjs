import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "amqplib";
import { reporter } from "../meter/reporter.mjs";

/**
 * What a service is compared with: amqplib alone, that takes messages and keeps them unacked. `node consumer.mjs QUEUE PREFETCH`.
 * A message on the exchange of that name makes it ack all that it holds; SIGTERM makes it give all back and end.
 */
const [queue = "", prefetch = "1"] = process.argv.slice(2);
const url = process.env.AMQP_URL ?? "";
const RECONNECT_MS = 100;

/** @type {Map<number, import("amqplib").ConsumeMessage>} */
const held = new Map();
/** @type {import("amqplib").Channel | undefined} */
let work;

async function consume() {
  const connection = await connect(`${url}?heartbeat=10`, { noDelay: true });
  connection.on("error", () => undefined); // `close` follows
  connection.once("close", () => void consumeAgain());
  held.clear();
  const channel = await connection.createChannel();
  const orders = await connection.createChannel();
  for (const each of [channel, orders]) each.on("error", () => undefined); // the connection goes too
  await orders.assertExchange(queue, "fanout", { durable: false });
  const { queue: own } = await orders.assertQueue("", { exclusive: true });
  await orders.bindQueue(own, queue, "");
  await orders.consume(own, () => void ackAll(channel), { noAck: true });
  await channel.prefetch(Number(prefetch));
  await channel.consume(queue, (message) => {
    if (message === null) return;
    held.set(message.fields.deliveryTag, message);
    reporter.started(message.properties.messageId);
  });
  work = channel;
  console.log("ready");
}

async function consumeAgain() {
  for (;;) {
    try {
      return await consume();
    } catch {
      await sleep(RECONNECT_MS); // the broker is not up again yet
    }
  }
}

/** One by one, as jobs end one by one. @param {import("amqplib").Channel} channel */
async function ackAll(channel) {
  const count = held.size;
  for (const message of held.values()) channel.ack(message);
  held.clear();
  await channel.checkQueue(queue); // answered behind the acks
  reporter.stopped(count);
}

async function giveBack() {
  work?.nackAll(true);
  await work?.close();
}

process.once("SIGTERM", () => void giveBack().finally(() => process.exit(0)));

await consume();
