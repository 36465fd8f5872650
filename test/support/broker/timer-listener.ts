import { type ChannelModel, connect } from "amqplib";
import { eventually } from "../eventually.ts";

export interface HeardTimer {
  id: string;
  name: string;
  payload: unknown;
  headers: Record<string, unknown>;
  exchange: string;
  type: string;
  persistent: boolean;
  heardAtMs: number;
}

/** A program that listens to timers with a queue of its own, as docs/timers.md tells it to. Close it. */
export class TimerListener {
  readonly #model: ChannelModel;
  /** In the order of the queue. */
  readonly heard: HeardTimer[] = [];
  readonly #byId = new Map<string, HeardTimer[]>();

  private constructor(model: ChannelModel) {
    this.#model = model;
  }

  /** A manager has to have been started. */
  static async listen(url: string, key: string, queueName = ""): Promise<TimerListener> {
    // The manager declares the exchange as it connects, a moment after it listens.
    return eventually(async () => {
      const model = await connect(url);
      model.on("error", () => undefined);
      const listener = new TimerListener(model);
      try {
        await listener.#bind(key, queueName);
        return listener;
      } catch (error) {
        await model.close().catch(() => undefined);
        throw error;
      }
    });
  }

  async #bind(key: string, queueName: string): Promise<void> {
    const channel = await this.#model.createChannel();
    channel.on("error", () => undefined);
    const { queue } = await channel.assertQueue(queueName, { exclusive: true, durable: false });
    await channel.bindQueue(queue, "unacked.timers", key);
    const take = (message: import("amqplib").ConsumeMessage | null) => {
      if (message === null) return;
      const { messageId, headers, type, deliveryMode } = message.properties;
      const heard: HeardTimer = {
        id: messageId,
        name: message.fields.routingKey,
        payload: JSON.parse(message.content.toString()),
        headers: headers ?? {},
        exchange: message.fields.exchange,
        type,
        persistent: deliveryMode === 2,
        heardAtMs: Date.now(),
      };
      this.heard.push(heard);
      this.#byId.set(messageId, [...this.of(messageId), heard]);
    };
    await channel.consume(queue, take, { noAck: true });
  }

  of(id: string): HeardTimer[] {
    return this.#byId.get(id) ?? [];
  }

  get ids(): Pick<ReadonlyMap<string, unknown>, "has" | "keys"> {
    return this.#byId;
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}
