import { setTimeout as delay } from "node:timers/promises";
import type { Delivery, Session } from "@unacked/broker";
import { decodeBody, ERROR_QUEUE, ErrorReport } from "@unacked/contracts";
import { type ErrorBook, type NewError, RefusedByDatabase } from "../../../operations/books/books-store.ts";
import type { Log } from "../../../operations/log.ts";
import { DeliveryBatches } from "../deliveries/delivery-batches.ts";
import { Retries } from "../deliveries/retries.ts";
import { unreadableMessage, uuidOf } from "../deliveries/unreadable-message.ts";

const PREFETCH = 200;
const MAX_BATCH = 100;
const RETRY_MS = 1_000;

/**
 * What comes in: reports of `unacked.error`. Guarantee: each stands in the errors table before it is acked; one that is
 * itself unreadable, or that the database refuses, is kept as such. A crash in between brings it again, and its messageId tells.
 */
export class ErrorConsumer {
  readonly #book: ErrorBook;
  readonly #log: Log;
  readonly retries = new Retries();
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
        await this.#record(deliveries, errors);
        this.retries.succeeded();
        for (const delivery of deliveries) delivery.settle("ack");
        return;
      } catch (error) {
        this.retries.failed(error);
        this.#log.warn({ err: error }, "errors could not be stored, trying again");
        await delay(RETRY_MS);
      }
    }
  }

  /** Together, or one by one where one of them can never be recorded: that one is, as what it is. */
  async #record(deliveries: Delivery[], errors: NewError[]): Promise<void> {
    try {
      await this.#book.record(errors);
    } catch (error) {
      if (!(error instanceof RefusedByDatabase)) throw error;
      for (const [i, each] of errors.entries()) await this.#recordAlone(deliveries[i] as Delivery, each);
    }
  }

  async #recordAlone(delivery: Delivery, error: NewError): Promise<void> {
    try {
      await this.#book.record([error]);
    } catch (refusal) {
      if (!(refusal instanceof RefusedByDatabase)) throw refusal;
      const { reporter } = error;
      await this.#book.record([
        { ...unreadableMessage(delivery, refusal.message), reason: "refused-by-database", reporter },
      ]);
    }
  }
}

function toNewError(delivery: Delivery): NewError {
  const decoded = decodeBody(ErrorReport, delivery.body);
  if (decoded.ok) return { ...decoded.value, messageId: uuidOf(delivery.properties.messageId) };
  const reporter = delivery.properties.appId?.slice(0, 128) ?? "unknown";
  return { ...unreadableMessage(delivery, decoded.reason), reporter };
}
