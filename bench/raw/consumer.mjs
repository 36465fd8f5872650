import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "amqplib";
import { reporter } from "../meter/reporter.mjs";

/**
 * What a service is compared with: amqplib alone, that takes messages and keeps them unacked. `node consumer.mjs QUEUE PREFETCH [WARM_UP]`:
 * so many messages it has taken and acked before, of a queue of its own.
 * A message on the exchange of that name makes it ack all that it holds; SIGTERM makes it give all back and end.
 */
const [queue = "", prefetch = "1", warmUp = "0"] = process.argv.slice(2);
const url = process.env.AMQP_URL ?? "";
const RECONNECT_MS = 100;
/** About that of the start of an observer. */
const TEXT_BYTES = 500;

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

/** @param {number} count */
async function takeBefore(count) {
  const connection = await connect(`${url}?heartbeat=10`, { noDelay: true });
  const channel = await connection.createChannel();
  const { queue: own } = await channel.assertQueue("", { exclusive: true });
  for (let i = 0; i < count; i += 1) channel.sendToQueue(own, Buffer.alloc(TEXT_BYTES, "x"), { persistent: true });
  await new Promise((resolve) => {
    const taken = new Map();
    void channel.consume(own, (message) => {
      if (message === null) return;
      taken.set(message.fields.deliveryTag, message);
      if (taken.size < count) return;
      for (const one of taken.values()) channel.ack(one);
      resolve(undefined);
    });
  });
  await channel.close();
  await connection.close();
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

if (Number(warmUp) > 0) await takeBefore(Number(warmUp));
await consume();
