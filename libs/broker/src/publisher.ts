import type { BrokerSettings } from "./broker-settings.ts";
import { ChangeNotice } from "./change-notice.ts";
import type { ConnectionStatus } from "./connection-hooks.ts";
import { encodeOutgoing, type Outgoing } from "./outgoing.ts";
import { untilAborted } from "./patience.ts";
import { PublishError } from "./publish-error.ts";
import { PublishLane } from "./publish-lane.ts";
import { Refusals } from "./refusals.ts";
import type { Session } from "./session.ts";
import { SupervisedConnection } from "./supervised-connection.ts";

const DEFAULT_CONFIRM_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_WAITING = 20_000;
/** How long close() waits for confirms that are on their way. */
const CLOSE_LIMIT_MS = 2_000;

export interface PublisherOptions {
  /** Declares what this publisher publishes to, on each new connection. */
  declare?: (session: Session) => Promise<void>;
  /** How long a confirm may take, in ms, not counting the time in which the broker blocks publishes. Default 30,000. */
  confirmTimeoutMs?: number;
  /**
   * How many publishes may be open at once: sent and not confirmed, or not yet sent because the broker blocks or the
   * socket is full. One more is refused with `overflow`. Default 20,000. While there is no connection none waits.
   */
  maxWaiting?: number;
  /**
   * Whether everything that is published to this exchange must be taken, as nobody bounds its queues. If all of it is refused for half a
   * second, the connection is replaced by another, to the next node. Default: never.
   */
  mustBeTaken?: (exchange: string) => boolean;
}

/**
 * A publisher on a connection of its own, in confirm mode. Receives messages. Guarantees: publish() resolves only when the
 * broker has it (on disk, if persistent) and a queue took it. A crash, or a loss, before the confirm leaves the outcome
 * unknown: publish it again, under the receiver's guard against doubles. Nothing is ever sent again by itself.
 */
export class Publisher {
  readonly #connection: SupervisedConnection;
  readonly #declare: PublisherOptions["declare"];
  readonly #maxWaiting: number;
  #lane: PublishLane | undefined;
  #closing: Promise<void> | undefined;
  /** Notifies when it goes up or down, is blocked or unblocked, or runs out of open publishes. */
  readonly #changes = new ChangeNotice();

  /** Throws a BrokerSettingsError for settings that can never work. */
  constructor(settings: BrokerSettings, options: PublisherOptions = {}) {
    const { declare, confirmTimeoutMs = DEFAULT_CONFIRM_TIMEOUT_MS, maxWaiting = DEFAULT_MAX_WAITING } = options;
    const refusals = new Refusals(options.mustBeTaken ?? (() => false));
    this.#declare = declare;
    this.#maxWaiting = maxWaiting;
    this.#connection = new SupervisedConnection(settings, {
      build: async (session) => {
        await declare?.(session);
        this.#lane = await PublishLane.open(session, {
          confirmTimeoutMs,
          refusals,
          onIdle: () => this.#changes.notify(),
        });
      },
      onUp: () => this.#changes.notify(),
      onLost: (_generation, { detail }) => {
        this.#lane?.abandon(detail);
        this.#lane = undefined;
        this.#changes.notify();
      },
      onBlocked: (blocked) => {
        this.#lane?.setBlocked(blocked);
        this.#changes.notify();
      },
    });
  }

  start(): void {
    this.#connection.start();
  }

  get status(): ConnectionStatus {
    return this.#connection.status;
  }

  /**
   * Resolves when the broker confirmed the message and did not return it; rejects with a PublishError. While the broker
   * blocks publishes it waits, for as long as that takes; while there is no connection it rejects at once (`unavailable`).
   *
   * @param wanted once aborted, what still waits is not sent and rejects as `unwanted`
   */
  publish(message: Outgoing, wanted?: AbortSignal): Promise<void> {
    const { messageId } = message;
    return new Promise((resolve, reject) => {
      const lane = this.#openLane(messageId);
      if (lane.size >= this.#maxWaiting) {
        throw new PublishError("overflow", messageId, `Nothing was sent: ${this.#maxWaiting} publishes are open already`);
      }
      lane.publish({ messageId, wire: encodeOutgoing(message), wanted, sentAtMs: 0, resolve, reject });
    });
  }

  /**
   * Declares again what this publisher publishes to, if it is up. It is for a message that came back because somebody has
   * deleted or unbound its queue. Never rejects: a refusal ends the session, which logs it and shows it in `status`.
   */
  async declareAgain(): Promise<void> {
    const { session } = this.#connection;
    if (session === undefined || this.#declare === undefined) return;
    try {
      await this.#declare(session);
    } catch (error) {
      // A refusal has closed the channel. Otherwise the fault is not the broker's, and the next session shows it again.
      session.end(`what it publishes to could not be declared again: ${String(error)}`);
    }
  }

  /**
   * Gives up the connection, if there is one, and makes another, to the next node if several are named. Open publishes
   * reject as `lost`. It is for confirms that do not come although nothing reports a failure.
   */
  startOver(why: string): void {
    this.#connection.session?.end(why);
  }

  /** Whether it is up and not blocked. */
  get isWritable(): boolean {
    const { up, blocked } = this.status;
    return up && !blocked;
  }

  /** Resolves when up and not blocked. Rejects when closed, or with the signal's reason. */
  async writable(signal?: AbortSignal): Promise<void> {
    for (;;) {
      await this.#connection.up(signal);
      if (!this.status.blocked) return;
      await this.#changes.next(signal);
    }
  }

  /** Resolves when nothing can be published, as it is down or blocked. Rejects with the signal's reason. */
  async heldUp(signal: AbortSignal): Promise<void> {
    while (this.isWritable) await this.#changes.next(signal);
  }

  /** Resolves when the broker blocks what is published (a memory or disk alarm). Rejects with the signal's reason. */
  async blocked(signal: AbortSignal): Promise<void> {
    while (!this.status.blocked) await this.#changes.next(signal);
  }

  /**
   * Takes no more, waits at most 2 s for the confirms on their way, then closes the connection. What is still open then
   * rejects as `lost` or `unavailable`. Idempotent.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const limit = AbortSignal.timeout(CLOSE_LIMIT_MS);
    while (this.#lane !== undefined && this.#lane.size > 0 && !limit.aborted) {
      await Promise.race([this.#changes.next(), untilAborted(limit)]);
    }
    await this.#connection.close();
    this.#changes.notify();
  }

  #openLane(messageId: string): PublishLane {
    const isUp = this.#connection.session !== undefined;
    if (this.#closing === undefined && isUp && this.#lane !== undefined) return this.#lane;
    const why =
      this.#closing === undefined ? (this.status.lastLoss?.detail ?? "not connected yet") : "the publisher is closed";
    throw new PublishError("unavailable", messageId, `Nothing was sent: ${why}`);
  }
}
