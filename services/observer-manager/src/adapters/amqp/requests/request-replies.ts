import { PublishError, type Publisher } from "@unacked/broker";
import { EXCHANGES, newMessageId } from "@unacked/contracts";
import type { Log } from "../../../operations/log.ts";
import type { Reply } from "../../../operations/requests/request.ts";

/** Again would not help, or would hold up others: the answer is kept, for whoever asks again. */
const UNDELIVERABLE = new Set<PublishError["code"]>(["returned", "nacked", "too-late", "invalid"]);
const MAX_PROPERTY_BYTES = 255;

/** Goes out: answers. Guarantee: `send` resolves when the broker has it, or nobody could get it. */
export class RequestReplies {
  readonly #publisher: Publisher;
  readonly #managerId: string;
  readonly #log: Log;

  constructor(publisher: Publisher, managerId: string, log: Log) {
    this.#publisher = publisher;
    this.#managerId = managerId;
    this.#log = log;
  }

  /** @returns whether a queue took it. Rejects when `lost` aborts: what was asked comes again. */
  async send({ key, status, type, json }: Reply, correlationId: string | undefined, lost: AbortSignal): Promise<boolean> {
    for (;;) {
      await this.#publisher.writable(lost);
      try {
        await this.#publisher.publish(
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
        return true;
      } catch (error) {
        lost.throwIfAborted();
        if (!(error instanceof PublishError)) throw error;
        this.#log.debug({ key, err: error }, "an answer was not delivered");
        if (UNDELIVERABLE.has(error.code)) return false;
      }
    }
  }
}

/** What did not decode as UTF-8 may have grown. */
const isProperty = (text: string | undefined): text is string =>
  text !== undefined && Buffer.byteLength(text) <= MAX_PROPERTY_BYTES;
