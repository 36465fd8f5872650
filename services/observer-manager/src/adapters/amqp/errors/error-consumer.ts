import type { Delivery, Session } from "@unacked/broker";
import { decodeBody, ERROR_QUEUE, ErrorReport, reportBody } from "@unacked/contracts";
import { type ErrorBook, isForGood, type NewError } from "../../../operations/books/books-store.ts";
import type { Log } from "../../../operations/log.ts";
import { DeliveryBatches } from "../deliveries/delivery-batches.ts";
import { Portions } from "../deliveries/portions.ts";
import { Retries } from "../deliveries/retries.ts";
import { unreadableMessage, uuidOf } from "../deliveries/unreadable-message.ts";

const PREFETCH = 200;
const MAX_BATCH = 100;
/** Each time a report has this many bytes more it counts as one more. */
const BYTES_OF_ONE = 1_024;

interface Received {
  readonly delivery: Delivery;
  readonly events: number;
  readonly error: NewError;
}

/**
 * Receives reports of `unacked.error`. Guarantee: each is in the errors table before it is acked; a report that is unreadable, or can
 * never be recorded, is kept as such. Reports may be very long: what waits here is read, cut, and recorded in portions. After a crash in
 * between it comes again, known by its messageId.
 */
export class ErrorConsumer {
  readonly #book: ErrorBook;
  readonly #log: Log;
  readonly retries = new Retries();
  readonly #batches = new DeliveryBatches(MAX_BATCH, (deliveries, lost) => this.#handle(deliveries, lost));
  readonly #portions = new Portions();
  readonly #received = new WeakMap<Delivery, NewError>();

  constructor(book: ErrorBook, log: Log) {
    this.#book = book;
    this.#log = log;
  }

  async begin(session: Session): Promise<void> {
    this.#batches.begin(session.lost);
    await session.consume(ERROR_QUEUE, { prefetch: PREFETCH }, (delivery) => {
      this.#received.set(delivery, toNewError(delivery));
      delivery.shed();
      this.#batches.add(delivery);
    });
  }

  #handle(deliveries: Delivery[], lost: AbortSignal): Promise<void> {
    const apply = async (portion: readonly Received[]): Promise<void> => {
      await this.#record(portion.map(({ error }) => error));
      this.retries.succeeded();
      for (const { delivery } of portion) delivery.settle("ack");
    };
    const failed = (error: unknown): void => {
      this.retries.failed(error);
      this.#log.warn({ err: error }, "errors could not be stored, trying again");
    };
    const received = deliveries.map((delivery): Received => {
      const error = this.#received.get(delivery) as NewError;
      return { delivery, error, events: 1 + Math.floor(error.body.length / BYTES_OF_ONE) };
    });
    return this.#portions.apply(received, { apply, failed, giveUp: () => undefined }, lost);
  }

  /** Records all together, or one by one if one of them can never be recorded: that one is recorded as such. */
  async #record(errors: NewError[]): Promise<void> {
    try {
      await this.#book.record(errors);
    } catch (error) {
      if (!isForGood(error)) throw error;
      for (const each of errors) await this.#recordAlone(each);
    }
  }

  async #recordAlone(error: NewError): Promise<void> {
    try {
      await this.#book.record([error]);
    } catch (refusal) {
      if (!isForGood(refusal)) throw refusal;
      const { queue, messageId, reporter } = error;
      const asText = reportBody(Buffer.from(JSON.stringify(error)));
      await this.#book.record([
        { reason: "refused-by-database", detail: refusal.message, queue, messageId, reporter, ...asText },
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
