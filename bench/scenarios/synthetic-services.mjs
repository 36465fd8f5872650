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
/** A service sends what it has, up to 1,000: half of that is what comes when many observers change at once. */
const EVENTS_A_BATCH = 500;
const RAW_QUEUE = "raw.state";
const POOL = "synthetic";

/** @typedef {"RunStarted" | "RunRetrying"} Kind */
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

  /**
   * One event of each of these kinds of every run, by the services in turn, as messages: made before the clock runs, so that
   * nothing but sending them takes from the cores.
   *
   * @param {Kind[]} kinds one after the other
   */
  prepare(kinds) {
    const chunks = Math.max(...this.#services.map(({ runs }) => Math.ceil(runs.length / EVENTS_A_BATCH)));
    /** @type {Buffer[]} */
    const bodies = [];
    for (const kind of kinds) {
      for (let chunk = 0; chunk < chunks; chunk += 1) {
        this.seq += 1;
        for (const service of this.#services)
          bodies.push(Buffer.from(JSON.stringify(batchOf(service, kind, this.seq, chunk))));
      }
    }
    return bodies;
  }

  /** To the manager; resolves when the broker has confirmed all. @param {Buffer[]} bodies */
  async tell(bodies) {
    await this.#publish(EXCHANGES.events.name, STATE_KEY, bodies);
    await this.#channel.waitForConfirms();
  }

  /**
   * The same messages to a queue of their own, read and acked by amqplib alone; answers how long that took, in ms.
   *
   * @param {Buffer[]} bodies
   */
  async rawRound(bodies) {
    const reader = await this.#connection.createChannel();
    await reader.prefetch(2_000);
    let seen = 0;
    const beganMs = nowMs();
    const read = new Promise((resolve, reject) => {
      reader
        .consume(RAW_QUEUE, (message) => {
          if (message === null) return;
          reader.ack(message);
          seen += 1;
          if (seen === bodies.length) resolve(undefined);
        })
        .catch(reject);
    });
    await Promise.all([this.#publish("", RAW_QUEUE, bodies), read]);
    const tookMs = nowMs() - beganMs;
    await reader.close();
    return tookMs;
  }

  /** No more at once than the connection takes. @param {string} exchange @param {string} routingKey @param {Buffer[]} bodies */
  async #publish(exchange, routingKey, bodies) {
    for (const body of bodies) {
      const hasRoom = this.#channel.publish(exchange, routingKey, body, { persistent: true, messageId: newMessageId() });
      if (!hasRoom) await new Promise((resolve) => this.#channel.once("drain", resolve));
    }
  }

  async close() {
    await this.#connection.close();
  }
}

/**
 * @param {{ serviceId: string, runs: Run[] }} service
 * @param {Kind} kind
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
