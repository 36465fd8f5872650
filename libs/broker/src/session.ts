import type { LossReason } from "./loss-reason.ts";

/** One connection's life, from set up to lost. After its loss every method rejects with SessionLostError. */
export interface Session {
  /** 1, 2, 3 … per SupervisedConnection; counts successful connects. */
  readonly generation: number;
  /** Aborted, with the LossReason as its `reason`, the moment the session is lost. */
  readonly lost: AbortSignal;
  /** Declares the queue, the exchanges of its bindings, and the bindings. Safe to repeat. */
  declare(queue: QueueDeclaration): Promise<void>;
  /** Declares the queue and its bindings, to exchanges that are there: for a user who may declare none. Safe to repeat. */
  declareQueue(queue: QueueDeclaration): Promise<void>;
  /** Binds the queue once more, on a channel of its own: a refusal (false) costs the session nothing. */
  bindAgain(queue: QueueDeclaration): Promise<boolean>;
  /** Whether there is such a queue. On a channel of its own: unlike `inspect`, a no costs the session nothing. */
  isThere(queue: string): Promise<boolean>;
  /** Durable. */
  declareExchange(exchange: ExchangeDeclaration): Promise<void>;
  /**
   * Passive declare on the session's control channel: cheap, and not blocked by alarms. The proof of life.
   * A queue that is not there closes the channel, as any 404 does, so that the session is lost.
   */
  inspect(queue: string): Promise<{ messageCount: number; consumerCount: number }>;
  /**
   * Consumes on a channel of its own; `onDelivery` is called synchronously for each. If it throws, that is logged, and
   * the delivery goes back to the queue 1 s later (at once it would spin); the channel and its other messages stay.
   * @param options.prefetch 1–65535. @param options.noAck the broker forgets each message as it sends it. Default false.
   */
  consume(queue: string, options: ConsumeOptions, onDelivery: (delivery: Delivery) => void): Promise<Consumer>;
  /** Loses this session on purpose; `reason` becomes the detail of `ended-by-owner`. A new one is built. */
  end(reason: string): void;
}

export interface ConsumeOptions {
  prefetch: number;
  noAck?: boolean;
}

export interface Consumer {
  /** No new deliveries after this call; those handed out before can still be settled. Idempotent, resolves after a loss too. */
  cancel(): Promise<void>;
}

export interface Delivery {
  readonly body: Buffer;
  /** Means "perhaps seen", not "ran". */
  readonly redelivered: boolean;
  readonly properties: DeliveryProperties;
  readonly queue: string;
  readonly generation: number;
  /**
   * The one place where a message is acked or given back. False when its generation is gone (nothing is sent: delivery
   * tags restart at 1, a stale ack would ack another job) or it was settled before.
   */
  settle(outcome: "ack" | "requeue"): boolean;
  /**
   * Lets go of body and properties, which are empty from then on. For a message that is held for long: its body is a piece of
   * what the socket read, and would keep alive all of that.
   */
  shed(): void;
}

export interface DeliveryProperties {
  type?: string;
  messageId?: string;
  appId?: string;
  /** Seconds since the epoch, by the sender's clock. */
  timestamp?: number;
  contentType?: string;
  headers: Record<string, unknown>;
}

export interface ExchangeDeclaration {
  name: string;
  type: string;
}

export interface QueueDeclaration {
  name: string;
  durable: boolean;
  exclusive: boolean;
  arguments: Record<string, unknown>;
  bindings: readonly { exchange: ExchangeDeclaration; routingKey: string }[];
}

/** The session is gone; what was asked of it may or may not have happened on the broker. */
export class SessionLostError extends Error {
  readonly code = "session-lost";
  override readonly name = "SessionLostError";
  readonly reason: LossReason;

  constructor(reason: LossReason) {
    super(`The broker session is lost (${reason.kind}): ${reason.detail}`);
    this.reason = reason;
  }
}
