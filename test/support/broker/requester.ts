import { randomUUID } from "node:crypto";
import type { ProblemDetails, TaskBatchResults } from "@unacked/contracts";
import { type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect, type Options } from "amqplib";
import { expect } from "vitest";
import { eventually } from "../eventually.ts";
import { deepHeaders } from "./deep-headers.ts";

export interface Reply {
  /** As a client of REST would see it. */
  status: number;
  type: string;
  body: TaskBatchResults & ProblemDetails;
  correlationId: string;
  /** The bytes, to compare. */
  text: string;
}

/** `key`: of the exchange. */
export interface RequestProperties extends Options.Publish {
  key?: string;
}

/** A program outside that asks for tasks over AMQP, as docs/create-tasks.md tells it to. Close it. */
export class Requester {
  readonly #model: ChannelModel;
  readonly #channel: ConfirmChannel;
  readonly user: string;
  /** Where its answers go. */
  readonly replyTo: string;
  readonly replies: Reply[] = [];
  returned = 0;

  private constructor(model: ChannelModel, channel: ConfirmChannel, user: string) {
    this.#model = model;
    this.#channel = channel;
    this.user = user;
    this.replyTo = `${user}.${randomUUID()}`;
  }

  /** The exchanges have to be there: a manager has been started. */
  static async connect(url: string): Promise<Requester> {
    const model = await connect(url);
    model.on("error", () => undefined);
    const channel = await model.createConfirmChannel();
    const requester = new Requester(model, channel, new URL(url).username);
    channel.on("error", () => undefined);
    channel.on("return", () => (requester.returned += 1));
    const queue = `unacked.request-replies.${requester.replyTo}`;
    await channel.assertQueue(queue, { exclusive: true, durable: false });
    await channel.bindQueue(queue, "unacked.request-replies", requester.replyTo);
    await channel.consume(queue, (message) => requester.#take(message), { noAck: true });
    return requester;
  }

  #take(message: ConsumeMessage | null): void {
    if (message === null) return;
    const { headers, type, correlationId } = message.properties;
    const text = message.content.toString();
    this.replies.push({ status: headers?.status, type, correlationId, text, body: JSON.parse(text) });
  }

  /** Publishes whatever it is told to; resolves when the broker has it. */
  async publish(body: unknown, properties: RequestProperties = {}): Promise<string> {
    const messageId = this.#send(body, properties);
    await this.#channel.waitForConfirms();
    return messageId;
  }

  /** All of them in order, as fast as the broker takes them. */
  async publishMany(
    bodies: unknown[],
    messageIds: string[] = bodies.map(() => randomUUID()),
    properties: RequestProperties = {},
  ): Promise<string[]> {
    for (const [i, body] of bodies.entries()) this.#send(body, { ...properties, messageId: messageIds[i] as string });
    await this.#channel.waitForConfirms();
    return messageIds;
  }

  #send(body: unknown, properties: RequestProperties): string {
    const messageId = properties.messageId ?? randomUUID();
    const content = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const { key = "tasks", ...given } = properties;
    const all = { userId: this.user, replyTo: this.replyTo, persistent: true, ...given, messageId };
    const set = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    this.#channel.publish("unacked.requests", key, content, { mandatory: true, ...set });
    return messageId;
  }

  /** Of a request of this message id, or correlation id: the `nth` answer. */
  async reply(id: string, nth = 1): Promise<Reply> {
    return await eventually(
      () => {
        const found = this.replies.filter(({ correlationId }) => correlationId === id)[nth - 1];
        expect(found, `answer ${nth} to ${id}`).toBeDefined();
        return found as Reply;
      },
      { timeoutMs: 30_000 },
    );
  }

  async ask(body: unknown, properties: RequestProperties = {}): Promise<Reply> {
    const count = this.replies.length;
    const id = await this.publish(body, properties);
    const nth = this.replies.slice(0, count).filter(({ correlationId }) => correlationId === id).length + 1;
    return this.reply(properties.correlationId ?? id, nth);
  }

  /** Of the next message alone: headers of that depth. */
  deepHeaders(depth: number): object {
    return deepHeaders(this.#model, depth);
  }

  close(): Promise<void> {
    return this.#model.close();
  }
}
