import { type ChannelModel, type ConsumeMessage, connect } from "amqplib";
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
  /** Read when somebody asks: while many come, this process is to do no more than a bare listener does. */
  #unread: { message: ConsumeMessage; heardAtMs: number }[] = [];
  readonly #heard: HeardTimer[] = [];
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
    const take = (message: ConsumeMessage | null) => {
      if (message !== null) this.#unread.push({ message, heardAtMs: Date.now() });
    };
    await channel.consume(queue, take, { noAck: true });
  }

  /** How many have come, without a look at them. */
  get count(): number {
    return this.#heard.length + this.#unread.length;
  }

  /** In the order of the queue. */
  get heard(): readonly HeardTimer[] {
    this.#read();
    return this.#heard;
  }

  of(id: string): HeardTimer[] {
    this.#read();
    return this.#byId.get(id) ?? [];
  }

  get ids(): Pick<ReadonlyMap<string, unknown>, "has" | "keys"> {
    this.#read();
    return this.#byId;
  }

  #read(): void {
    const unread = this.#unread;
    if (unread.length === 0) return;
    this.#unread = [];
    for (const { message, heardAtMs } of unread) {
      const { messageId: id, headers, type, deliveryMode } = message.properties;
      const { routingKey: name, exchange } = message.fields;
      const about = { exchange, type, persistent: deliveryMode === 2, heardAtMs };
      const heard = { id, name, payload: JSON.parse(message.content.toString()), headers: headers ?? {}, ...about };
      this.#heard.push(heard);
      const others = this.#byId.get(id);
      if (others === undefined) this.#byId.set(id, [heard]);
      else others.push(heard);
    }
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}
