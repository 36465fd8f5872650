import { PublishError, type Publisher } from "@unacked/broker";
import { EXCHANGES, newMessageId } from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import type { Reply } from "../../../operations/requests/request.ts";
import { NotTried, PoolWindows } from "../pools/pool-window.ts";

/**
 * Codes after which a second try would not help, or would hold up others. The answer is kept, for when it is asked for
 * again.
 */
const UNDELIVERABLE = new Set<PublishError["code"]>(["returned", "nacked", "too-late", "invalid"]);
const MAX_PROPERTY_BYTES = 255;
/**
 * How long nothing is sent to a key whose queue does not confirm: all later requests wait 10 s for that confirm. This applies only if
 * others were confirmed meanwhile, as a broker that stands still says nothing about a queue.
 */
const REST_MS = 60_000;
/** The most keys, of all users together. */
const MAX_TAKEN = 10_000;

/**
 * Sends answers. Guarantee: `send` resolves when the broker has the answer, or nobody could receive it. Few of one user are open at a time:
 * behind a quorum queue that confirms nothing, RabbitMQ would stop to read the answers to others (pool-window.ts).
 */
export class RequestReplies {
  readonly #publisher: Publisher;
  readonly #managerId: string;
  readonly #log: Log;
  readonly #windows = new PoolWindows();
  /** Keys without a confirm in time, and until when nothing is sent to them. */
  readonly #resting = new Map<string, number>();
  /**
   * Users of such keys, and until when nothing is sent to keys of theirs that never had a confirm: otherwise a new key for each request
   * would cost as long each time.
   */
  readonly #doubted = new Map<string, number>();
  /** Keys with a confirm, the latest one last. */
  readonly #taken = new Set<string>();
  /** When the last confirm of all came. */
  #confirmedAtMs = Number.NEGATIVE_INFINITY;

  constructor(publisher: Publisher, managerId: string, log: Log) {
    this.#publisher = publisher;
    this.#managerId = managerId;
    this.#log = log;
  }

  /** @returns whether a queue took it. Rejects when `lost` aborts: what was asked comes again. */
  async send({ key, status, type, json }: Reply, correlationId: string | undefined, lost: AbortSignal): Promise<boolean> {
    for (;;) {
      await this.#publisher.writable(lost);
      if (this.#isResting(key)) return false;
      let sentAtMs = Number.POSITIVE_INFINITY;
      try {
        await this.#windows.through(userOf(key), () => {
          sentAtMs = performance.now();
          return this.#publisher.publish(
            {
              exchange: EXCHANGES.requestReplies.name,
              routingKey: key,
              type,
              messageId: newMessageId(),
              appId: this.#managerId,
              body: Buffer.from(json),
              headers: { status },
              ...(isProperty(correlationId) && { correlationId }),
            },
            lost,
          );
        });
        this.#confirmedAtMs = performance.now();
        this.#noteTaken(key);
        return true;
      } catch (error) {
        lost.throwIfAborted();
        const code = codeOf(error);
        this.#log.debug({ key, err: error }, "an answer was not delivered");
        if (code === "too-late" && this.#confirmedAtMs > sentAtMs) this.#rest(key);
        if (error instanceof NotTried ? code === "too-late" : UNDELIVERABLE.has(code)) return false;
      }
    }
  }

  #rest(key: string): void {
    const nowMs = performance.now();
    for (const resting of [this.#resting, this.#doubted])
      for (const [other, untilMs] of resting) if (untilMs <= nowMs) resting.delete(other);
    this.#resting.set(key, nowMs + REST_MS);
    this.#doubted.set(userOf(key), nowMs + REST_MS);
  }

  #isResting(key: string): boolean {
    const nowMs = performance.now();
    if ((this.#resting.get(key) ?? 0) > nowMs) return true;
    return (this.#doubted.get(userOf(key)) ?? 0) > nowMs && !this.#taken.has(key);
  }

  #noteTaken(key: string): void {
    this.#taken.delete(key);
    this.#taken.add(key);
    const [oldest] = this.#taken;
    if (this.#taken.size > MAX_TAKEN && oldest !== undefined) this.#taken.delete(oldest);
  }
}

/** A key begins with its user's name and a dot (request-gate.ts). */
const userOf = (key: string): string => key.slice(0, key.indexOf("."));

/** The code of the publish that failed, which for NotTried is an earlier one. Rethrows errors that are not the broker's. */
function codeOf(error: unknown): PublishError["code"] {
  const tried = error instanceof NotTried ? error.cause : error;
  if (tried instanceof PublishError) return tried.code;
  throw error;
}

/** A text that was not valid UTF-8 may have grown when it was decoded. */
const isProperty = (text: string | undefined): text is string =>
  text !== undefined && Buffer.byteLength(text) <= MAX_PROPERTY_BYTES;
