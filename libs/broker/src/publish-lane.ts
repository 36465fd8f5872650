import type { AmqpSession } from "./amqp-session.ts";
import type { ConfirmChannel, WireMessage } from "./confirm-channel.ts";
import { PublishError, type PublishErrorCode } from "./publish-error.ts";
import type { Refusals } from "./refusals.ts";
import type { Session } from "./session.ts";
import { Unconfirmed } from "./unconfirmed.ts";

/** A publish that is not settled yet. */
export interface OpenPublish {
  readonly messageId: string;
  readonly wire: WireMessage;
  /** If it aborts before the publish is sent, the publish is not sent. */
  readonly wanted: AbortSignal | undefined;
  /** Monotonic; 0 while it waits. */
  sentAtMs: number;
  resolve(): void;
  reject(error: PublishError): void;
}

export interface LaneParts {
  readonly confirmTimeoutMs: number;
  readonly refusals: Refusals;
  /** Called whenever nothing is open any more. */
  readonly onIdle: () => void;
}

const NOT_WANTED = "Nothing was sent: it is not wanted any more";

/**
 * The publishes of one session's confirm channel. Receives publishes, in order. Guarantees: each is settled once, by its
 * confirm, by the time limit or by abandon(); none waits for room on a channel that is gone. Ends with its session.
 */
export class PublishLane {
  readonly #session: Session;
  readonly #parts: LaneParts;
  readonly #unconfirmed = new Unconfirmed<OpenPublish>();
  #channel: ConfirmChannel | undefined;
  #waiting: OpenPublish[] = [];
  /** The signals that are listened to: each may say that waiting publishes are no longer wanted. */
  readonly #heeded = new WeakSet<AbortSignal>();
  readonly #over = new AbortController();
  #hasRoom = true;
  #blocked = false;
  #unblockedAtMs = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(session: Session, parts: LaneParts) {
    this.#session = session;
    this.#parts = parts;
  }

  static async open(session: Session, parts: LaneParts): Promise<PublishLane> {
    const lane = new PublishLane(session, parts);
    // The only use of what a Session does not show. Every session of this library is an AmqpSession.
    lane.#channel = await (session as AmqpSession).openConfirmChannel({
      onConfirm: (tag, multiple, ok) => lane.#settle(tag, multiple, ok),
      onReturn: (messageId, why) => lane.#unconfirmed.markReturned(messageId, why),
      onDrain: () => {
        lane.#hasRoom = true;
        lane.#sendWaiting();
      },
    });
    return lane;
  }

  /** The number of open publishes: sent and not confirmed, or waiting to be sent. */
  get size(): number {
    return this.#waiting.length + this.#unconfirmed.size;
  }

  publish(open: OpenPublish): void {
    const channel = this.#waiting.length === 0 ? this.#openChannel : undefined;
    if (channel === undefined) return this.#wait(open);
    this.#send(channel, open);
    this.#armTimer();
  }

  /**
   * Drops publishes that nobody wants any more: while the broker blocks, perhaps for hours, they must not take the room of
   * others.
   */
  #wait(open: OpenPublish): void {
    this.#waiting.push(open);
    const { wanted } = open;
    if (wanted === undefined || this.#heeded.has(wanted)) return;
    this.#heeded.add(wanted);
    wanted.addEventListener("abort", () => this.#dropUnwanted(), { once: true, signal: this.#over.signal });
  }

  #dropUnwanted(): void {
    const unwanted = this.#waiting.filter(({ wanted }) => wanted?.aborted);
    this.#waiting = this.#waiting.filter(({ wanted }) => !wanted?.aborted);
    rejectAll(unwanted, "unwanted", NOT_WANTED);
    if (this.size === 0) this.#parts.onIdle();
  }

  /** The channel, if it can take a message now. Undefined means that messages have to wait. */
  get #openChannel(): ConfirmChannel | undefined {
    return this.#hasRoom && !this.#blocked ? this.#channel : undefined;
  }

  /** While blocked nothing is sent and no confirm is due. */
  setBlocked(blocked: boolean): void {
    this.#blocked = blocked;
    this.#disarm();
    if (blocked) return;
    this.#unblockedAtMs = performance.now();
    this.#sendWaiting();
  }

  /** The session is lost: rejects all that is open. */
  abandon(detail: string): void {
    this.#channel = undefined;
    this.#over.abort();
    this.#disarm();
    const waiting = this.#waiting;
    this.#waiting = [];
    rejectAll(
      this.#unconfirmed.takeAll(),
      "lost",
      `The connection went before the confirm, the outcome is unknown: ${detail}`,
    );
    rejectAll(waiting, "unavailable", `The connection went before this was sent: ${detail}`);
  }

  #sendWaiting(): void {
    const queue = this.#waiting;
    let next = 0;
    for (let channel = this.#openChannel; channel !== undefined && next < queue.length; channel = this.#openChannel) {
      this.#send(channel, queue[next] as OpenPublish);
      next += 1;
    }
    if (next > 0) this.#waiting = queue.slice(next);
    this.#armTimer();
  }

  #send(channel: ConfirmChannel, open: OpenPublish): void {
    if (open.wanted?.aborted) {
      const { messageId, reject } = open;
      return reject(new PublishError("unwanted", messageId, NOT_WANTED));
    }
    try {
      const { tag, hasRoom } = channel.send(open.wire);
      this.#hasRoom = hasRoom;
      open.sentAtMs = performance.now();
      this.#unconfirmed.add(tag, open);
    } catch (error) {
      // Nothing was sent. amqplib throws this on a channel whose loss we are about to hear of; else it is the message's fault.
      const code = (error as Error).name === "IllegalOperationError" ? "unavailable" : "invalid";
      open.reject(new PublishError(code, open.messageId, `Cannot send: ${(error as Error).message}`, { cause: error }));
    }
  }

  #settle(tag: number, multiple: boolean, ok: boolean): void {
    const { refusals, onIdle } = this.#parts;
    let startOver: string | undefined;
    for (const { sent, returned } of this.#unconfirmed.settle(tag, multiple)) {
      const { exchange } = sent.wire;
      if (ok) refusals.taken(exchange);
      else startOver ??= refusals.refused(exchange);
      if (!ok) sent.reject(new PublishError("nacked", sent.messageId, "The broker could not take the message"));
      else if (returned === undefined) sent.resolve();
      else sent.reject(new PublishError("returned", sent.messageId, `No queue took the message: ${returned}`));
    }
    if (this.size === 0) {
      this.#disarm();
      onIdle();
    }
    if (startOver !== undefined) this.#session.end(startOver);
  }

  /** There is one timer, for the oldest: the broker confirms in about the order of sending. */
  #armTimer(): void {
    if (this.#timer !== undefined || this.#blocked) return;
    const oldestMs = this.#unconfirmed.oldestSentAtMs;
    if (oldestMs === undefined) return;
    const dueAtMs = Math.max(oldestMs, this.#unblockedAtMs) + this.#parts.confirmTimeoutMs;
    this.#timer = setTimeout(() => this.#endIfTooLate(), Math.max(1, Math.ceil(dueAtMs - performance.now())));
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #endIfTooLate(): void {
    this.#timer = undefined;
    const momentMs = performance.now() - this.#parts.confirmTimeoutMs;
    const tooLate = momentMs < this.#unblockedAtMs ? [] : this.#unconfirmed.takeSentBefore(momentMs);
    if (tooLate.length === 0) return this.#armTimer();
    const detail = `no confirm within ${this.#parts.confirmTimeoutMs} ms`;
    rejectAll(tooLate, "too-late", `The outcome is unknown: ${detail}`);
    this.#session.end(detail);
  }
}

function rejectAll(open: readonly OpenPublish[], code: PublishErrorCode, detail: string): void {
  for (const { messageId, reject } of open) reject(new PublishError(code, messageId, detail));
}
