import { connect } from "amqplib";
import { DEFAULT_RETRY, newMessageId, newObserverId } from "../../libs/contracts/dist/index.js";

const QUEUE = "raw.work";

/** What the same takes with amqplib alone: a queue, a publisher with confirms in this process, consumers in theirs. */
export class RawBroker {
  #rig;
  #amqpUrl;
  #connection;
  #channel;

  /**
   * @param {import("../rig/rig.mjs").Rig} rig
   * @param {string} amqpUrl
   * @param {import("amqplib").ChannelModel} connection
   * @param {import("amqplib").ConfirmChannel} channel
   */
  constructor(rig, amqpUrl, connection, channel) {
    this.#rig = rig;
    this.#amqpUrl = amqpUrl;
    this.#connection = connection;
    this.#channel = channel;
  }

  /** @param {import("../rig/rig.mjs").Rig} rig */
  static async open(rig) {
    const { amqpUrl } = await rig.freshVhost();
    return await RawBroker.connect(rig, amqpUrl);
  }

  /**
   * @param {import("../rig/rig.mjs").Rig} rig
   * @param {string} amqpUrl
   */
  static async connect(rig, amqpUrl) {
    const connection = await connect(`${amqpUrl}?heartbeat=10`, { noDelay: true });
    connection.on("error", () => undefined); // the broker is restarted under it
    const channel = await connection.createConfirmChannel();
    channel.on("error", () => undefined); // likewise
    await channel.assertQueue(QUEUE, { durable: true });
    await channel.assertExchange(QUEUE, "fanout", { durable: false });
    return new RawBroker(rig, amqpUrl, connection, channel);
  }

  /** Again, after the broker was down. */
  async reopen() {
    const fresh = await RawBroker.connect(this.#rig, this.#amqpUrl);
    this.#connection = fresh.#connection;
    this.#channel = fresh.#channel;
  }

  /** A consumer in a process of its own. @param {string} name @param {number} prefetch @param {number} [warmUp] so many it has taken before */
  async startConsumer(name, prefetch, warmUp = 0) {
    return await this.#rig.programs.start(name, {
      file: "bench/raw/consumer.mjs",
      args: [QUEUE, String(prefetch), String(warmUp)],
      env: { ...this.#rig.env, AMQP_URL: this.#amqpUrl, NODE_ENV: "production" },
    });
  }

  /** Persistent; resolves when the broker has confirmed all. @param {Buffer[]} bodies */
  async publish(bodies) {
    for (const body of bodies) if (!this.#send(body)) await new Promise((resolve) => this.#channel.once("drain", resolve));
    await this.#channel.waitForConfirms();
  }

  /**
   * One; resolves with its own confirm.
   *
   * @param {Buffer} body
   * @param {string} [messageId] told to the meter by its consumer
   * @returns {Promise<void>}
   */
  publishOne(body, messageId) {
    return new Promise((resolve, reject) => {
      const options = { persistent: true, mandatory: true, messageId };
      this.#channel.publish("", QUEUE, body, options, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** @param {Buffer} body */
  #send(body) {
    return this.#channel.publish("", QUEUE, body, { persistent: true, mandatory: true });
  }

  /** Tells every consumer to ack all that it holds: as much text as the stop of so many observers takes. @param {number} count */
  async orderAcks(count) {
    const targets = Array.from({ length: count }, () => ({ observerId: newObserverId(), revision: 1 }));
    this.#channel.publish(QUEUE, "", Buffer.from(JSON.stringify({ targets })));
    await this.#channel.waitForConfirms();
  }

  async close() {
    await this.#connection.close();
  }
}

/** The very messages that a manager would send. @param {number} count @param {Record<string, string>} [labels] */
export const startBodies = (count, labels = {}) => Array.from({ length: count }, (_, index) => startBody(index, labels));

/** @param {number} index @param {Record<string, string>} labels */
function startBody(index, labels) {
  const name = `observer-${index}`;
  const about = { observerId: newObserverId(), revision: 1, name, type: "wait", params: {}, labels };
  const rest = { retry: DEFAULT_RETRY, pool: "default", createdAt: new Date().toISOString(), messageId: newMessageId() };
  return Buffer.from(JSON.stringify({ ...about, ...rest }));
}
