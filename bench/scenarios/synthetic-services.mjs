import { connect } from "amqplib";
import {
  controlQueue,
  EXCHANGES,
  newMessageId,
  newRunId,
  newServiceId,
  STATE_KEY,
} from "../../libs/contracts/dist/index.js";
import { nowMs } from "../meter/clock.mjs";

const SERVICES = 20;
const EVENTS_A_BATCH = 500;
const RAW_QUEUE = "raw.state";
const POOL = "synthetic";

/** @typedef {{ observerId: string, runId: string, messageId: string, revision: number }} Run */

/** Says what services would say, as fast as the broker takes it: for how much the manager can hear. */
export class SyntheticServices {
  /** Of the last batch of each. */
  seq = 0;
  #connection;
  #channel;
  /** @type {{ serviceId: import("../../libs/contracts/dist/index.js").ServiceId, runs: Run[] }[]} */
  #services;

  /**
   * @param {import("amqplib").ChannelModel} connection
   * @param {import("amqplib").ConfirmChannel} channel
   * @param {string[]} observerIds
   */
  constructor(connection, channel, observerIds) {
    this.#connection = connection;
    this.#channel = channel;
    const each = Math.ceil(observerIds.length / SERVICES);
    this.#services = Array.from({ length: SERVICES }, (_, index) => ({
      serviceId: newServiceId(),
      runs: observerIds.slice(index * each, (index + 1) * each).map((observerId) => {
        return { observerId, runId: newRunId(), messageId: newMessageId(), revision: 1 };
      }),
    }));
  }

  /** @param {string} amqpUrl @param {string[]} observerIds */
  static async open(amqpUrl, observerIds) {
    const connection = await connect(amqpUrl, { noDelay: true });
    const channel = await connection.createConfirmChannel();
    const services = new SyntheticServices(connection, channel, observerIds);
    await services.#declare();
    return services;
  }

  /** A queue for each, where the manager's probes find it alive; and one for the raw round. */
  async #declare() {
    for (const { serviceId } of this.#services) {
      const { name, durable, exclusive, bindings } = controlQueue(serviceId, 1);
      await this.#channel.assertQueue(name, { durable, exclusive });
      for (const { exchange, routingKey } of bindings) await this.#channel.bindQueue(name, exchange.name, routingKey);
    }
    await this.#channel.assertQueue(RAW_QUEUE, { durable: true });
  }

  /** One event of this kind of every run, by the services in turn. @param {"RunStarted" | "RunRetrying"} kind */
  async tell(kind) {
    const chunks = Math.max(...this.#services.map(({ runs }) => Math.ceil(runs.length / EVENTS_A_BATCH)));
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      this.seq += 1;
      for (const service of this.#services)
        this.#publish(EXCHANGES.events.name, STATE_KEY, batchOf(service, kind, this.seq, chunk));
    }
    await this.#channel.waitForConfirms();
  }

  /** The same messages to a queue of their own, read and acked by amqplib alone; answers how long that took, in ms. */
  async rawRound() {
    const messages = 2 * this.#services.reduce((sum, { runs }) => sum + Math.ceil(runs.length / EVENTS_A_BATCH), 0);
    const reader = await this.#connection.createChannel();
    await reader.prefetch(2_000);
    let seen = 0;
    const beganMs = nowMs();
    await new Promise((resolve, reject) => {
      reader
        .consume(RAW_QUEUE, (message) => {
          if (message === null) return;
          reader.ack(message);
          seen += 1;
          if (seen === messages) resolve(undefined);
        })
        .catch(reject);
      for (const kind of /** @type {const} */ (["RunRetrying", "RunStarted"]))
        for (const service of this.#services)
          for (let chunk = 0; chunk * EVENTS_A_BATCH < service.runs.length; chunk += 1)
            this.#publish("", RAW_QUEUE, batchOf(service, kind, 1, chunk));
    });
    const tookMs = nowMs() - beganMs;
    await reader.close();
    return tookMs;
  }

  /** @param {string} exchange @param {string} routingKey @param {object} body */
  #publish(exchange, routingKey, body) {
    const messageId = newMessageId();
    this.#channel.publish(exchange, routingKey, Buffer.from(JSON.stringify(body)), { persistent: true, messageId });
  }

  async close() {
    await this.#connection.close();
  }
}

/**
 * @param {{ serviceId: string, runs: Run[] }} service
 * @param {"RunStarted" | "RunRetrying"} kind
 * @param {number} seq
 * @param {number} chunk
 */
function batchOf({ serviceId, runs }, kind, seq, chunk) {
  const at = Date.now();
  const more =
    kind === "RunStarted" ? { attempt: 1 } : { attempt: 1, error: { name: "Error", message: "made up" }, delayMs: 1_000 };
  const ofChunk = runs.slice(chunk * EVENTS_A_BATCH, (chunk + 1) * EVENTS_A_BATCH);
  const events = [
    ...ofChunk.map((run) => ({ kind, ...run, at, ...more })),
    { kind: "ServiceAlive", at, workerCount: runs.length, running: runs.length, memoryBytes: 0, eventLoopLagMs: 0 },
  ];
  const who = { serviceId, serviceName: `synthetic-${serviceId}`, pool: POOL, workerCount: runs.length };
  return { kind: "EventBatch", ...who, generation: 1, seq, events };
}
