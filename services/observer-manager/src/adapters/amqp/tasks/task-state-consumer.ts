import type { Delivery, Session } from "@unacked/broker";
import { decodeList, reportBody, TASK_STATE_QUEUE, TaskEventBatch } from "@unacked/contracts";
import { type ErrorBook, isForGood, type NewError, RefusedByDatabase } from "../../../operations/books/books-store.ts";
import type { Log } from "../../../operations/log.ts";
import type { TaskLedger } from "../../../operations/tasks/ledger/task-ledger.ts";
import type { TaskDays } from "../../../operations/tasks/upkeep/task-retention.ts";
import { LongMessages } from "../deliveries/long-messages.ts";
import { Portions } from "../deliveries/portions.ts";
import { QueueReader } from "../deliveries/queue-reader.ts";
import { readTogether } from "../deliveries/read-together.ts";
import { Retries } from "../deliveries/retries.ts";
import { unreadableMessage } from "../deliveries/unreadable-message.ts";

/** All that are taken ahead are in memory, as in StateConsumer. */
const PREFETCH = 200;
const MAX_BATCH = 100;

export interface TaskStateConsumerParts {
  ledger: TaskLedger;
  errors: Pick<ErrorBook, "record">;
  days: Pick<TaskDays, "makeAhead">;
  /** The name of this manager, for the errors that it records. */
  reporter: string;
  log: Log;
}

interface Read {
  readonly delivery: Delivery;
  readonly batch: TaskEventBatch;
}

/** One message. It has no `batch` if it cannot be read. */
interface Message extends Partial<Read> {
  readonly delivery: Delivery;
  readonly events: number;
  readonly errors: readonly NewError[];
}

/**
 * Receives the messages of the tasks' state queue. Guarantees: each is acked only after it is stored, or recorded as an error; an event
 * that can never be applied affects none of its neighbours, in its message or beside it. A crash in the middle leaves it unacked.
 */
export class TaskStateConsumer {
  readonly #parts: TaskStateConsumerParts;
  readonly #long = new LongMessages();
  readonly #reader = new QueueReader({
    queue: TASK_STATE_QUEUE,
    prefetch: PREFETCH,
    maxBatch: MAX_BATCH,
    onDelivery: this.#long.shed,
    handle: (deliveries, lost) => this.#handle(deliveries, lost),
  });
  readonly retries = new Retries();
  readonly #portions = new Portions();

  constructor(parts: TaskStateConsumerParts) {
    this.#parts = parts;
  }

  begin(session: Session): Promise<void> {
    return this.#reader.begin(session);
  }

  async #handle(deliveries: Delivery[], lost: AbortSignal): Promise<void> {
    const apply = async (portion: readonly Message[]): Promise<void> => {
      await this.#apply(portion.flatMap(({ delivery, batch }) => (batch === undefined ? [] : [{ delivery, batch }])));
      // Errors come last, so that a retry does not record, and count, them twice.
      await this.#parts.errors.record(portion.flatMap(({ errors }) => errors));
      for (const { delivery } of portion) {
        delivery.settle("ack");
        delivery.shed(); // its batch is held until all of it is applied
      }
      this.retries.succeeded();
    };
    const failed = (error: unknown, { length: messages }: readonly Message[]): void => {
      this.retries.failed(error);
      this.#parts.log.warn({ err: error, messages }, "reports about tasks could not be applied, trying again");
    };
    const giveUp = () => this.#reader.end("tasks' events could not be applied: another manager may try");
    for (const some of readTogether(deliveries)) {
      if (lost.aborted) return;
      const messages = some.map((delivery) => this.#read(delivery));
      await this.#portions.apply(messages, { apply, failed, giveUp }, lost);
    }
  }

  async #apply(read: Read[]): Promise<void> {
    try {
      await this.#applyAll(read);
    } catch (error) {
      if (!isForGood(error)) throw error;
      // Most likely there is no partition for this day.
      if (error instanceof RefusedByDatabase) await this.#parts.days.makeAhead();
      for (const one of read) await this.#applyAlone(one);
    }
  }

  async #applyAlone(one: Read): Promise<void> {
    try {
      await this.#applyAll([one]);
    } catch (error) {
      if (!isForGood(error)) throw error;
      await this.#applySplit(one.batch);
    }
  }

  /**
   * Applies event by event. The number of the message comes last: after a crash before that all of it comes again, and what was
   * applied changes nothing, as no send ends twice.
   */
  async #applySplit(batch: TaskEventBatch): Promise<void> {
    const { ledger, errors } = this.#parts;
    for (const event of batch.events) {
      const part = { ...batch, events: [event] };
      try {
        await ledger.applyPart(part);
      } catch (error) {
        if (!isForGood(error)) throw error;
        await errors.record([this.#refused(part, error.message)]);
      }
    }
    await ledger.apply([{ ...batch, events: [] }], false);
  }

  #refused(batch: TaskEventBatch, detail: string): NewError {
    const about = { queue: TASK_STATE_QUEUE, messageId: null, reporter: this.#parts.reporter };
    return { reason: "refused-by-database", detail, ...about, ...reportBody(Buffer.from(JSON.stringify(batch))) };
  }

  #applyAll(read: Read[]): Promise<void> {
    return this.#parts.ledger.apply(
      read.map(({ batch }) => batch),
      read.some(({ delivery }) => delivery.redelivered),
    );
  }

  #read(delivery: Delivery): Message {
    const { reporter } = this.#parts;
    const tooLong = this.#long.errorOf(delivery);
    if (tooLong !== undefined) return { delivery, events: 1, errors: [{ ...tooLong, reporter }] };
    const decoded = decodeList(TaskEventBatch, "events", delivery.body);
    const flaws = decoded.ok ? decoded.leftOut.map(({ reason }) => reason) : [decoded.reason];
    const errors = flaws.length === 0 ? [] : [{ ...unreadableMessage(delivery, flaws.slice(0, 5).join("; ")), reporter }];
    if (!decoded.ok) return { delivery, events: 1, errors };
    return { delivery, events: decoded.value.events.length, errors, batch: decoded.value };
  }
}
