import type { Channel, ChannelModel } from "amqplib";
import { type BrokerLog, BrokerSettingsError } from "./broker-settings.ts";
import { CancelledConsumer } from "./cancelled-consumer.ts";
import { ConfirmChannel, type ConfirmHooks } from "./confirm-channel.ts";
import { startConsumer } from "./consumer.ts";
import { type LossReason, lossReason } from "./loss-reason.ts";
import type { OpenConnection } from "./open-connection.ts";
import type { OtherwiseQueues } from "./otherwise-queues.ts";
import { untilAborted } from "./patience.ts";
import type { ExchangeDeclaration, QueueDeclaration } from "./queue-declaration.ts";
import { QueueProof } from "./queue-proof.ts";
import type { ConsumeOptions, Consumer, Delivery, Session, SettleGiven } from "./session.ts";
import { SessionChannels } from "./session-channels.ts";
import { SessionLoss } from "./session-loss.ts";
import { RefusedError, SideChannel } from "./side-channel.ts";

export const MAX_PREFETCH = 65_535;

export interface SessionOwner {
  connectionName: string;
  log: BrokerLog;
  otherwise: OtherwiseQueues;
  /** Called synchronously, once, after `lost` was aborted. */
  onLost(reason: LossReason): void;
  /** Told a moment later, when more is known about why it was lost. */
  onExplained(reason: LossReason): void;
  onBlocked(blocked: boolean): void;
}

/** A session on one open connection. It is lost by whatever closes first; it never mends itself. */
export class AmqpSession implements Session {
  readonly generation: number;
  readonly heartbeatMs: number;
  readonly #connection: OpenConnection;
  readonly #model: ChannelModel;
  readonly #owner: SessionOwner;
  readonly #loss: SessionLoss;
  readonly #disconnected = new AbortController();
  readonly #channels: SessionChannels;
  readonly #proof: QueueProof;
  readonly #cancelled: CancelledConsumer;
  #control: Channel | undefined;
  #closing: Promise<void> | undefined;

  constructor(connection: OpenConnection, generation: number, owner: SessionOwner) {
    this.generation = generation;
    this.#connection = connection;
    this.#model = connection.model;
    this.#owner = owner;
    this.heartbeatMs = connection.heartbeatMs;
    this.#loss = new SessionLoss(this.heartbeatMs, (reason) => owner.onLost(reason));
    this.#channels = new SessionChannels(this.#loss, owner.log);
    this.#proof = new QueueProof({
      openChannel: () => this.#model.createChannel(),
      reply: (what, pending) => this.#loss.reply(what, pending),
    });
    this.#cancelled = new CancelledConsumer({
      loss: this.#loss,
      control: () => this.#control,
      explained: (reason) => owner.onExplained(reason),
    });
    // A socket failure emits error and then close; a graceful close by the broker (320) only close.
    this.#model.on("error", (error: Error) => this.#connectionClosed(error));
    this.#model.on("close", (error?: Error) => this.#connectionClosed(error ?? "closed without a reason"));
    this.#model.on("blocked", () => owner.onBlocked(true));
    this.#model.on("unblocked", () => owner.onBlocked(false));
  }

  get lost(): AbortSignal {
    return this.#loss.signal;
  }

  /** Aborted when the connection itself is gone. A session may be lost before that. */
  get disconnected(): AbortSignal {
    return this.#disconnected.signal;
  }

  /** The broker's name and version, as it said itself. */
  get peer(): string {
    return `${this.#model.connection.serverProperties.product} ${this.brokerVersion}`;
  }

  get brokerVersion(): string {
    return String(this.#model.connection.serverProperties.version);
  }

  /** The first step of every set-up. It also detects a connection that closed before anybody listened. */
  async openControlChannel(): Promise<void> {
    this.#control = await this.#channels.open("control", () => this.#model.createChannel());
  }

  /** From now on a refused operation does not count as a failed set-up. */
  markSetUp(): void {
    this.#channels.markSetUp();
  }

  async declareExchange({ name, type }: ExchangeDeclaration): Promise<void> {
    const control = this.#controlChannel();
    await this.#loss.reply(`declare exchange ${name}`, control.assertExchange(name, type, { durable: true }));
  }

  async declare(queue: QueueDeclaration): Promise<void> {
    for (const { exchange } of queue.bindings) await this.declareExchange(exchange);
    await this.declareQueue(queue);
  }

  async declareQueue(queue: QueueDeclaration): Promise<void> {
    if (queue.otherwise !== undefined && (await this.#declareAside(queue)) === undefined) return;
    const control = this.#controlChannel();
    const { name, durable, exclusive } = queue;
    await this.#loss.reply(
      `declare queue ${name}`,
      control.assertQueue(name, { durable, exclusive, arguments: queue.arguments }),
    );
    for (const { exchange, routingKey } of queue.bindings) {
      await this.#loss.reply(`bind queue ${name} to ${exchange.name}`, control.bindQueue(name, exchange.name, routingKey));
    }
  }

  async tryToDeclare(queue: QueueDeclaration): Promise<LossReason | undefined> {
    for (const { exchange } of queue.bindings) await this.declareExchange(exchange);
    return this.#declareAside(queue);
  }

  #declareAside(queue: QueueDeclaration): Promise<LossReason | undefined> {
    return this.#owner.otherwise.declare(queue, (what, act) => this.#attempt(what, act));
  }

  bindAgain(queue: QueueDeclaration): Promise<LossReason | undefined> {
    return this.#attempt(`bind queue ${queue.name} again`, (channel) => channel.bind(queue));
  }

  lookFor(queue: string): Promise<LossReason | undefined> {
    return this.#attempt(`look for queue ${queue}`, (channel) => channel.inspect(queue));
  }

  async openSideChannel(): Promise<SideChannel> {
    this.#loss.throwIfLost();
    const channel = await this.#loss.reply("open a side channel", this.#model.createChannel());
    return new SideChannel(channel, (what, pending) => this.#loss.reply(what, pending, Number.POSITIVE_INFINITY));
  }

  async inspect(queue: string): Promise<{ messageCount: number; consumerCount: number }> {
    const control = this.#controlChannel();
    const { messageCount, consumerCount } = await this.#loss.reply(`look at queue ${queue}`, control.checkQueue(queue));
    return { messageCount, consumerCount };
  }

  async reach(queue: string, settle: SettleGiven = () => "requeue"): Promise<void> {
    this.#loss.throwIfLost();
    await this.#proof.take(queue, settle);
  }

  async consume(
    queue: string,
    { prefetch, noAck = false }: ConsumeOptions,
    onDelivery: (delivery: Delivery) => void,
  ): Promise<Consumer> {
    if (!Number.isInteger(prefetch) || prefetch < 1 || prefetch > MAX_PREFETCH) {
      throw new BrokerSettingsError(
        `The prefetch of queue ${queue} must be a whole number from 1 to ${MAX_PREFETCH}, not ${prefetch}.`,
      );
    }
    const channel = await this.#channels.open("consume", () => this.#model.createChannel());
    await this.#loss.reply(`set the prefetch of ${queue}`, channel.prefetch(prefetch));
    return startConsumer({
      channel,
      queue,
      noAck,
      generation: this.generation,
      lost: this.lost,
      log: this.#owner.log,
      onDelivery,
      onCancelled: () => this.#cancelled.cancelled(queue),
      reply: (what, pending) => this.#loss.reply(what, pending),
      patientReply: (what, pending) => this.#loss.reply(what, pending, Number.POSITIVE_INFINITY),
    });
  }

  /** Opens a channel in confirm mode, for the publisher. */
  async openConfirmChannel(hooks: ConfirmHooks): Promise<ConfirmChannel> {
    return new ConfirmChannel(await this.#channels.open("publish", () => this.#model.createConfirmChannel()), hooks);
  }

  /** Only the first reason counts. */
  lose(reason: LossReason): void {
    this.#loss.lose(reason);
  }

  end(reason: string): void {
    this.lose(lossReason("ended-by-owner", reason));
  }

  /** Closes what is still open: in order for at most `limitMs`, so that acks on their way arrive. Then the socket is destroyed. */
  close(limitMs: number): Promise<void> {
    this.#closing ??= this.#close(limitMs);
    return this.#closing;
  }

  async #close(limitMs: number): Promise<void> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), limitMs);
    if (!this.disconnected.aborted) await Promise.race([this.#closeInOrder(), untilAborted(limit.signal)]);
    clearTimeout(timer);
    // amqplib only ends its half of the socket; a peer that is gone would never end the other.
    this.#connection.destroy();
  }

  /**
   * Closes the channels first: amqplib writes the connection's close past what a channel has buffered, which would overtake
   * its acks.
   */
  async #closeInOrder(): Promise<void> {
    await this.#cancelled.over; // a channel that closes drops the answers that it still gets
    await this.#channels.close();
    await Promise.allSettled([this.#model.close()]);
  }

  #connectionClosed(cause: unknown): void {
    this.#cancelled.closed(cause);
    this.lose(lossReason("connection-closed", cause));
    this.#disconnected.abort();
  }

  #controlChannel(): Channel {
    this.#loss.throwIfLost();
    if (this.#control === undefined) throw new Error("The session's control channel is not open yet.");
    return this.#control;
  }

  /** On a channel of its own, which is all that a refusal closes. @returns why it was refused */
  async #attempt(what: string, act: (channel: SideChannel) => Promise<unknown>): Promise<LossReason | undefined> {
    const channel = await this.openSideChannel();
    try {
      await this.#loss.reply(what, act(channel));
      return undefined;
    } catch (error) {
      if (error instanceof RefusedError) return error.reason;
      throw error;
    } finally {
      void channel.close();
    }
  }
}
