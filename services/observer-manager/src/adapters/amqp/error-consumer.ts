import { setTimeout as delay } from "node:timers/promises";
import type { Delivery, Session } from "@unacked/broker";
import { decodeBody, ERROR_QUEUE, ErrorReport } from "@unacked/contracts";
import type { ErrorBook, NewError } from "../../flows/error-book.ts";
import type { Log } from "../../flows/log.ts";
import { DeliveryBatches } from "./delivery-batches.ts";
import { unreadableMessage, uuidOf } from "./unreadable-message.ts";

const PREFETCH = 200;
const MAX_BATCH = 100;
const RETRY_MS = 1_000;

/**
 * What comes in: reports of `unacked.error`. Guarantee: each stands in the errors table before it is acked; one that is
 * itself unreadable is kept as such. A crash in between brings it again, and its messageId tells.
 */
export class ErrorConsumer {
  readonly #book: ErrorBook;
  readonly #log: Log;
  readonly #batches = new DeliveryBatches(MAX_BATCH, (deliveries, lost) => this.#handle(deliveries, lost));

  constructor(book: ErrorBook, log: Log) {
    this.#book = book;
    this.#log = log;
  }

  async begin(session: Session): Promise<void> {
    this.#batches.begin(session.lost);
    await session.consume(ERROR_QUEUE, { prefetch: PREFETCH }, (delivery) => this.#batches.add(delivery));
  }

  async #handle(deliveries: Delivery[], lost: AbortSignal): Promise<void> {
    const errors = deliveries.map(toNewError);
    while (!lost.aborted) {
      try {
        await this.#book.record(errors);
        for (const delivery of deliveries) delivery.settle("ack");
        return;
      } catch (error) {
        this.#log.warn({ err: error }, "errors could not be stored, trying again");
        await delay(RETRY_MS);
      }
    }
  }
}

function toNewError(delivery: Delivery): NewError {
  const decoded = decodeBody(ErrorReport, delivery.body);
  if (decoded.ok) return { ...decoded.value, messageId: uuidOf(delivery.properties.messageId) };
  const reporter = delivery.properties.appId?.slice(0, 128) ?? "unknown";
  return { ...unreadableMessage(delivery, decoded.reason), reporter };
}
