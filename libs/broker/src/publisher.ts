import type { AmqpSession } from "./amqp-session.ts";
import type { BrokerSettings } from "./broker-settings.ts";
import type { ConfirmChannel, WireMessage } from "./confirm-channel.ts";
import { encodeOutgoing, type Outgoing } from "./outgoing.ts";
import { PublishError, type PublishErrorCode } from "./publish-error.ts";
import type { Session } from "./session.ts";
import { type ConnectionStatus, SupervisedConnection } from "./supervised-connection.ts";
import { Unconfirmed } from "./unconfirmed.ts";

const DEFAULT_CONFIRM_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_WAITING = 20_000;
/** How long close() waits for confirms that are on their way. */
const CLOSE_LIMIT_MS = 2_000;

export interface PublisherOptions {
  /** Declares what this publisher publishes to, on each new connection. */
  declare?: (session: Session) => Promise<void>;
  /** How long a confirm may take, not counting the time in which the broker blocks publishes. Default 30,000. */
  confirmTimeoutMs?: number;
  /** How many publishes may be open, sent or (while the broker blocks, or the socket is full) not yet sent. Default 20,000. */
  maxWaiting?: number;
}

interface OpenPublish {
  messageId: string;
  wire: WireMessage;
  sentAtMs: number;
  resolve(): void;
  reject(error: PublishError): void;
}

/**
 * A publisher on a connection of its own, in confirm mode. Comes in: a message. Guarantees: publish() resolves only when
 * the broker has it (on disk, if persistent) and a queue took it. A crash, or a loss, before the confirm leaves the
 * outcome unknown: publish it again, under the receiver's guard against doubles. Nothing is ever sent again by itself.
 */
export class Publisher {
  readonly #connection: SupervisedConnection;
  readonly #confirmTimeoutMs: number;
  readonly #maxWaiting: number;
  #channel: ConfirmChannel | undefined;
  #hasRoom = true;
  #waiting: OpenPublish[] = [];
  #unconfirmed = new Unconfirmed<OpenPublish>();
  #unblockedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #watchers = new Set<() => void>();

  constructor(settings: BrokerSettings, options: PublisherOptions = {}) {
    this.#confirmTimeoutMs = options.confirmTimeoutMs ?? DEFAULT_CONFIRM_TIMEOUT_MS;
    this.#maxWaiting = options.maxWaiting ?? DEFAULT_MAX_WAITING;
    this.#connection = new SupervisedConnection(settings, {
      build: async (session) => {
        await options.declare?.(session);
        this.#hasRoom = true;
        // The one user of what a Session does not show: every session of this library is an AmqpSession.
        this.#channel = await (session as AmqpSession).openConfirmChannel({
          onConfirm: (tag, multiple, ok) => this.#onConfirm(tag, multiple, ok),
          onReturn: (messageId, why) => this.#unconfirmed.markReturned(messageId, why),
          onDrain: () => {
            this.#hasRoom = true;
            this.#sendWaiting();
          },
        });
      },
      onUp: () => this.#notify(),
      onLost: (_generation, { detail }) => this.#onLost(detail),
      onBlocked: (blocked) => this.#onBlocked(blocked),
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
   * blocks publishes it waits; while there is no connection it rejects at once (`unavailable`).
   */
  publish(message: Outgoing): Promise<void> {
    const { messageId } = message;
    if (this.#closed || !this.status.up) return Promise.reject(this.#unavailable(messageId));
    if (this.#waiting.length + this.#unconfirmed.size >= this.#maxWaiting) {
      return Promise.reject(new PublishError("overflow", messageId, `${this.#maxWaiting} publishes are waiting already`));
    }
    return new Promise((resolve, reject) => {
      const wire = encodeOutgoing(message);
      this.#waiting.push({ messageId, wire, sentAtMs: 0, resolve, reject });
      this.#sendWaiting();
    });
  }

  /** Resolves when up and not blocked. Rejects when closed, or with the signal's reason. */
  async writable(signal?: AbortSignal): Promise<void> {
    for (;;) {
      await this.#connection.up(signal);
      if (!this.status.blocked) return;
      await this.#change(signal);
    }
  }

  /** Waits for the confirms on their way, 2 s at most, then closes; what is still open then is `lost` or `unavailable`. */
  async close(): Promise<void> {
    this.#closed = true;
    const limit = AbortSignal.timeout(CLOSE_LIMIT_MS);
    while (this.status.up && this.#waiting.length + this.#unconfirmed.size > 0 && !limit.aborted) {
      await this.#change(limit).catch(() => undefined);
    }
    await this.#connection.close();
  }

  #sendWaiting(): void {
    const channel = this.#channel;
    const queue = this.#waiting;
    let next = 0;
    while (channel !== undefined && next < queue.length && this.#hasRoom && !this.status.blocked) {
      this.#send(channel, queue[next] as OpenPublish);
      next += 1;
    }
    if (next > 0) this.#waiting = queue.slice(next);
    this.#armTimer();
  }

  #send(channel: ConfirmChannel, open: OpenPublish): void {
    try {
      const { tag, hasRoom } = channel.send(open.wire);
      this.#hasRoom = hasRoom;
      open.sentAtMs = performance.now();
      this.#unconfirmed.add(tag, open);
    } catch (error) {
      // Nothing was sent. On a channel about to be reported lost that is nobody's fault but the wire's.
      const code = (error as Error).name === "IllegalOperationError" ? "unavailable" : "invalid";
      open.reject(new PublishError(code, open.messageId, `Cannot send: ${(error as Error).message}`, { cause: error }));
    }
  }

  #onConfirm(tag: number, multiple: boolean, ok: boolean): void {
    for (const { sent, returned } of this.#unconfirmed.settle(tag, multiple)) {
      if (!ok) sent.reject(new PublishError("nacked", sent.messageId, "The broker could not take the message"));
      else if (returned === undefined) sent.resolve();
      else sent.reject(new PublishError("returned", sent.messageId, `No queue took the message: ${returned}`));
    }
    if (this.#unconfirmed.size === 0) this.#notify();
  }

  #onLost(detail: string): void {
    this.#channel = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    rejectAll(this.#unconfirmed.takeAll(), "lost", `The connection went before the confirm, the outcome is unknown: ${detail}`);
    rejectAll(waiting, "unavailable", `The connection went before this was sent: ${detail}`);
    this.#notify();
  }

  #onBlocked(blocked: boolean): void {
    if (!blocked) {
      this.#unblockedAtMs = performance.now();
      this.#sendWaiting();
    }
    this.#notify();
  }

  /** One timer for the oldest: confirms are expected in the order of sending. */
  #armTimer(): void {
    const oldest = this.#unconfirmed.oldestSentAtMs;
    if (this.#timer !== undefined || oldest === undefined) return;
    const dueInMs = Math.max(oldest, this.#unblockedAtMs) + this.#confirmTimeoutMs - performance.now();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#endIfTooLate();
      this.#armTimer();
    }, Math.max(1, dueInMs));
  }

  #endIfTooLate(): void {
    const nowMs = performance.now();
    if (this.status.blocked || nowMs - this.#unblockedAtMs < this.#confirmTimeoutMs) return;
    const tooLate = this.#unconfirmed.takeSentBefore(nowMs - this.#confirmTimeoutMs);
    if (tooLate.length === 0) return;
    const detail = `No confirm within ${this.#confirmTimeoutMs} ms`;
    rejectAll(tooLate, "too-late", `${detail}, the outcome is unknown`);
    this.#connection.session?.end(detail);
  }

  #unavailable(messageId: string): PublishError {
    const why = this.#closed ? "the publisher is closed" : (this.status.lastLoss?.detail ?? "not connected yet");
    return new PublishError("unavailable", messageId, `Nothing was sent: ${why}`);
  }

  #notify(): void {
    for (const wake of [...this.#watchers]) wake();
  }

  /** The next change of up, blocked, or nothing being open any more. */
  #change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = () => {
        this.#watchers.delete(wake);
        signal?.removeEventListener("abort", onAbort);
      };
      const wake = () => {
        finish();
        resolve();
      };
      const onAbort = () => {
        finish();
        reject(signal?.reason);
      };
      this.#watchers.add(wake);
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted) onAbort();
    });
  }
}

function rejectAll(open: readonly OpenPublish[], code: PublishErrorCode, detail: string): void {
  for (const { messageId, reject } of open) reject(new PublishError(code, messageId, detail));
}
