import type { LossReason } from "./loss-reason.ts";
import type { ExchangeDeclaration, QueueDeclaration } from "./queue-declaration.ts";
import type { SideChannel } from "./side-channel.ts";

/** One connection's life, from set up to lost. After its loss every method rejects with SessionLostError. */
export interface Session {
  /** 1, 2, 3 … per SupervisedConnection; counts successful connects. */
  readonly generation: number;
  /** What broker and client agreed to: the broker may have wanted less than was asked for. Either gives the other up by this. */
  readonly heartbeatMs: number;
  /** As the broker said itself: `4.3.6`. */
  readonly brokerVersion: string;
  /** Aborted, with the LossReason as its `reason`, the moment the session is lost. */
  readonly lost: AbortSignal;
  /** Declares the queue, the exchanges of its bindings, and the bindings; one that is there `otherwise` stays so. Safe to repeat. */
  declare(queue: QueueDeclaration): Promise<void>;
  /** Declares the queue and its bindings, to exchanges that are there: for a user who may declare none. Safe to repeat. */
  declareQueue(queue: QueueDeclaration): Promise<void>;
  /** As `declare`, with the queue on a channel of its own: what the broker refuses of it costs the session nothing. @returns why; undefined: it is there */
  tryToDeclare(queue: QueueDeclaration): Promise<LossReason | undefined>;
  /** Binds the queue once more, on a channel of its own: a refusal costs the session nothing. @returns why it is refused; undefined: it is bound */
  bindAgain(queue: QueueDeclaration): Promise<LossReason | undefined>;
  /** Looks for a queue, on a channel of its own: unlike with `inspect`, a refusal costs the session nothing. @returns the same; undefined: it is there */
  lookFor(queue: string): Promise<LossReason | undefined>;
  /** For what the broker may refuse: see SideChannel. The caller closes it. */
  openSideChannel(): Promise<SideChannel>;
  /** Durable. */
  declareExchange(exchange: ExchangeDeclaration): Promise<void>;
  /**
   * Passive declare on the session's control channel: cheap, and not blocked by alarms. A queue that is not there closes the
   * channel, as any 404 does, so that the session is lost. Of an own queue it proves that the connection lives; of another it
   * proves nothing: the nearest node answers it from memory.
   */
  inspect(queue: string): Promise<{ messageCount: number; consumerCount: number }>;
  /**
   * Resolves when the queue itself has answered on this connection: the majority of a quorum queue's nodes, the node of a classic
   * one. Not blocked by alarms; needs the right to read it. A refusal rejects and costs the session nothing; where there is no such queue
   * it is a QueueMissingError. One at a time.
   * Meanwhile the broker may give it a message that no other consumer has room for: `settle` says what becomes of it.
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

/** What becomes of a message that was not asked for. */
export type SettleGiven = (message: { body: Buffer; type: string }) => "ack" | "requeue";

export interface ConsumeOptions {
  prefetch: number;
  noAck?: boolean;
}

export interface Consumer {
  /** No new deliveries after this call; those handed out before can still be settled. Idempotent, resolves after a loss too. */
  cancel(): Promise<void>;
  /** No new deliveries until `resume`; what the broker had sent before is handed out still, and what is held stays held. */
  pause(): Promise<void>;
  /**
   * Consumes again on the same channel: at most `prefetch` messages beside those that were handed out before, which do not count any
   * more. Nothing after `cancel`.
   */
  resume(prefetch: number): Promise<void>;
  /**
   * Resolves when everything that the broker had sent this consumer before has been handed out: it answers a passive declare
   * of the queue on the consuming channel behind it. As long as the session lives there is no limit on how long that takes.
   */
  flushed(): Promise<void>;
}

export interface Delivery {
  readonly body: Buffer;
  /** Means "perhaps seen", not "ran". */
  readonly redelivered: boolean;
  /** Grows each time the broker gives this message out once more, where its queue counts (quorum); else always 0. */
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
  /** The user who published it: the broker refuses any other. Undefined: it was not said. */
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
