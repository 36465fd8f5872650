import type { LossReason } from "./loss-reason.ts";
import type { ExchangeDeclaration, QueueDeclaration } from "./queue-declaration.ts";
import type { SideChannel } from "./side-channel.ts";

/** One connection's life, from set up to lost. After its loss every method rejects with SessionLostError. */
export interface Session {
  /** 1, 2, 3 … per SupervisedConnection; counts successful connects. */
  readonly generation: number;
  /**
   * What broker and client agreed to; the broker may have wanted less than was asked for. Either side gives the other up by
   * this.
   */
  readonly heartbeatMs: number;
  /** The version that the broker reports: `4.3.6`. */
  readonly brokerVersion: string;
  /** Aborted, with the LossReason as its `reason`, the moment the session is lost. */
  readonly lost: AbortSignal;
  /** Declares the queue, the exchanges of its bindings, and the bindings; one that is there `otherwise` stays so. Safe to repeat. */
  declare(queue: QueueDeclaration): Promise<void>;
  /** Declares the queue and its bindings to existing exchanges, for a user who may declare none. Safe to repeat. */
  declareQueue(queue: QueueDeclaration): Promise<void>;
  /**
   * Like `declare`, but declares the queue on a channel of its own, so that a refusal does not end the session. @returns why it is refused.
   * Undefined means that it exists
   */
  tryToDeclare(queue: QueueDeclaration): Promise<LossReason | undefined>;
  /**
   * Binds the queue again, on a channel of its own, so that a refusal does not end the session. @returns why it is refused. Undefined means
   * that it is bound
   */
  bindAgain(queue: QueueDeclaration): Promise<LossReason | undefined>;
  /**
   * Looks for a queue, on a channel of its own, so that unlike with `inspect` a refusal does not end the session. @returns why it is
   * refused. Undefined means that it exists
   */
  lookFor(queue: string): Promise<LossReason | undefined>;
  /** Opens a channel for what the broker may refuse: see SideChannel. The caller closes it. */
  openSideChannel(): Promise<SideChannel>;
  /** Declares a durable exchange. */
  declareExchange(exchange: ExchangeDeclaration): Promise<void>;
  /**
   * A passive declare on the session's control channel: cheap, and not blocked by alarms. If there is no such queue, the
   * channel closes, as with any 404, and the session is lost. For an own queue it proves that the connection lives; for
   * another it proves nothing, as the nearest node answers from memory.
   */
  inspect(queue: string): Promise<{ messageCount: number; consumerCount: number }>;
  /**
   * Resolves when the queue itself has answered on this connection: the majority of a quorum queue's nodes, the node of a classic one.
   * Not blocked by alarms; needs the right to read it. A refusal rejects, but does not end the session; a queue that does not exist
   * rejects with QueueMissingError. One at a time. Meanwhile the broker may deliver a message that no other consumer has room for:
   * `settle` decides what becomes of it.
   */
  reach(queue: string, settle?: SettleGiven): Promise<void>;
  /**
   * Consumes on a channel of its own; `onDelivery` is called synchronously for each. If it throws, that is logged, and
   * the delivery goes back to the queue 1 s later (at once it would spin); the channel and its other messages stay.
   * @param options.prefetch 1–65535. @param options.noAck the broker forgets each message as it sends it. Default false.
   */
  consume(queue: string, options: ConsumeOptions, onDelivery: (delivery: Delivery) => void): Promise<Consumer>;
  /** Loses this session on purpose; `reason` becomes the detail of `ended-by-owner`. A new one is built. */
  end(reason: string): void;
}

/** Decides what becomes of a message that was not asked for. */
export type SettleGiven = (message: { body: Buffer; type: string }) => "ack" | "requeue";

export interface ConsumeOptions {
  prefetch: number;
  noAck?: boolean;
}

export interface Consumer {
  /** No new deliveries after this call; those handed out before can still be settled. Idempotent, resolves after a loss too. */
  cancel(): Promise<void>;
  /** No new deliveries until `resume`. What the broker had sent before is still handed out, and what is held stays held. */
  pause(): Promise<void>;
  /**
   * Consumes again on the same channel: at most `prefetch` messages beside those handed out before, which no longer count. Does
   * nothing after `cancel`.
   */
  resume(prefetch: number): Promise<void>;
  /**
   * Resolves when everything that the broker had sent this consumer before has been handed out: it waits for a passive
   * declare of the queue on the consuming channel, which is answered after them. While the session lives there is no limit
   * on how long that takes.
   */
  flushed(): Promise<void>;
}

export interface Delivery {
  readonly body: Buffer;
  /** Means "perhaps seen", not "ran". */
  readonly redelivered: boolean;
  /** Grows each time the broker gives this message out again, if its queue counts (quorum); else always 0. */
  readonly deliveryCount: number;
  readonly properties: DeliveryProperties;
  readonly queue: string;
  readonly generation: number;
  /**
   * The one place where a message is acked or given back. False when its generation is gone (nothing is sent: delivery
   * tags restart at 1, a stale ack would ack another job) or it was settled before.
   */
  settle(outcome: "ack" | "requeue"): boolean;
  /**
   * Releases body and properties, which are empty from then on. It is for a message that is held for long: its body is a
   * piece of what the socket read, and would keep all of that in memory.
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
  /** The user who published it; the broker refuses a false one. Undefined means that the sender did not say. */
  userId?: string;
  replyTo?: string;
  correlationId?: string;
  headers: Record<string, unknown>;
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
