import { PublishError, type Publisher } from "@unacked/broker";
import { EXCHANGES, newMessageId } from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import type { Reply } from "../../../operations/requests/request.ts";
import { NotTried, PoolWindows } from "../pools/pool-window.ts";

/** Again would not help, or would hold up others: the answer is kept, for whoever asks again. */
const UNDELIVERABLE = new Set<PublishError["code"]>(["returned", "nacked", "too-late", "invalid"]);
const MAX_PROPERTY_BYTES = 255;
/**
 * All requests wait for the answers of those before them, 10 s for one that its queue does not confirm: so long nothing is tried there again. Only where
 * others were confirmed meanwhile: a broker that stands still says nothing of a queue.
 */
const REST_MS = 60_000;
/** Keys, of all users. */
const MAX_TAKEN = 10_000;

/**
 * Goes out: answers. Guarantee: `send` resolves when the broker has it, or nobody could get it. Few of one user are open at a time: behind a quorum queue
 * of his that confirms nothing, RabbitMQ would read the answers to others no more (pool-window.ts).
 */
export class RequestReplies {
  readonly #publisher: Publisher;
  readonly #managerId: string;
  readonly #log: Log;
  readonly #windows = new PoolWindows();
  /** Keys behind which nothing was confirmed in time, and until when nothing is sent there. */
  readonly #resting = new Map<string, number>();
  /** Users of such keys, and until when nothing is sent to keys of theirs behind which nothing ever was: a new one for each request would cost as long each time. */
  readonly #doubted = new Map<string, number>();
  /** Keys behind which something was confirmed, the last one last. */
  readonly #taken = new Set<string>();
  /** The last of all. */
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

/** Of what was tried last, where this was not. Rethrows what is none of the broker's. */
function codeOf(error: unknown): PublishError["code"] {
  const tried = error instanceof NotTried ? error.cause : error;
  if (tried instanceof PublishError) return tried.code;
  throw error;
}

/** What did not decode as UTF-8 may have grown. */
const isProperty = (text: string | undefined): text is string =>
  text !== undefined && Buffer.byteLength(text) <= MAX_PROPERTY_BYTES;
