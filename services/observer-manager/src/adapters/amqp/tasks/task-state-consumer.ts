import { setTimeout as delay } from "node:timers/promises";
import type { Delivery, Session } from "@unacked/broker";
import { decodeList, reportBody, TASK_STATE_QUEUE, TaskEventBatch } from "@unacked/contracts";
import { type ErrorBook, type NewError, RefusedByDatabase } from "../../../operations/books/books-store.ts";
import type { Log } from "../../../operations/log.ts";
import type { TaskLedger } from "../../../operations/tasks/task-ledger.ts";
import type { TaskDays } from "../../../operations/tasks/task-retention.ts";
import { DeliveryBatches } from "../deliveries/delivery-batches.ts";
import { ForgottenConsumer } from "../deliveries/forgotten-consumer.ts";
import { unreadableMessage } from "../deliveries/unreadable-message.ts";

const PREFETCH = 500;
const MAX_BATCH = 100;
const RETRY_MS = 250;
/** A manager that cannot apply for this long lets another one try: the queue has a single active consumer. */
const GIVE_UP_MS = 5_000;

export interface TaskStateConsumerParts {
  ledger: TaskLedger;
  errors: Pick<ErrorBook, "record">;
  days: Pick<TaskDays, "makeAhead">;
  /** This manager, named with the errors it records. */
  reporter: string;
  log: Log;
}

interface Read {
  delivery: Delivery;
  batch: TaskEventBatch;
}

/**
 * Comes in: messages of the tasks' state queue. Guarantees: each is acked only after it stands in the books, or among the errors; one
 * that the database will never take costs none of its neighbours. A crash in the middle leaves it unacked.
 */
export class TaskStateConsumer {
  readonly #parts: TaskStateConsumerParts;
  readonly #batches = new DeliveryBatches(MAX_BATCH, (deliveries, lost) => this.#handle(deliveries, lost));
  readonly #forgotten = new ForgottenConsumer(TASK_STATE_QUEUE, () => this.#batches.isIdle);
  #session: Session | undefined;

  constructor(parts: TaskStateConsumerParts) {
    this.#parts = parts;
  }

  async begin(session: Session): Promise<void> {
    this.#session = session;
    this.#batches.begin(session.lost);
    await session.consume(TASK_STATE_QUEUE, { prefetch: PREFETCH }, (delivery) => {
      this.#forgotten.delivered();
      this.#batches.add(delivery);
    });
    this.#forgotten.begin(session);
  }

  async #handle(deliveries: Delivery[], lost: AbortSignal): Promise<void> {
    const { read, errors } = this.#read(deliveries);
    const giveUpAt = performance.now() + GIVE_UP_MS;
    while (!lost.aborted) {
      try {
        await this.#parts.errors.record(errors);
        await this.#apply(read);
        for (const delivery of deliveries) delivery.settle("ack");
        return;
      } catch (error) {
        this.#parts.log.warn({ err: error }, "what was told of tasks could not be applied, trying again");
        if (performance.now() > giveUpAt) this.#session?.end("tasks' events could not be applied: another manager may try");
        await delay(RETRY_MS);
      }
    }
  }

  async #apply(read: Read[]): Promise<void> {
    try {
      await this.#applyAll(read);
    } catch (error) {
      if (!(error instanceof RefusedByDatabase)) throw error;
      // Most likely there is no partition for this day.
      await this.#parts.days.makeAhead();
      for (const one of read) await this.#applyAlone(one);
    }
  }

  async #applyAlone(one: Read): Promise<void> {
    try {
      await this.#applyAll([one]);
    } catch (error) {
      if (!(error instanceof RefusedByDatabase)) throw error;
      const { reporter, errors } = this.#parts;
      const about = { queue: TASK_STATE_QUEUE, messageId: null, reporter };
      await errors.record([
        {
          reason: "refused-by-database",
          detail: error.message,
          ...about,
          ...reportBody(Buffer.from(JSON.stringify(one.batch))),
        },
      ]);
    }
  }

  #applyAll(read: Read[]): Promise<void> {
    return this.#parts.ledger.apply(
      read.map(({ batch }) => batch),
      read.some(({ delivery }) => delivery.redelivered),
    );
  }

  #read(deliveries: Delivery[]): { read: Read[]; errors: NewError[] } {
    const { reporter } = this.#parts;
    const read: Read[] = [];
    const errors: NewError[] = [];
    for (const delivery of deliveries) {
      const decoded = decodeList(TaskEventBatch, "events", delivery.body);
      if (decoded.ok) read.push({ delivery, batch: decoded.value });
      const flaws = decoded.ok ? decoded.leftOut.map(({ reason }) => reason) : [decoded.reason];
      if (flaws.length > 0) errors.push({ ...unreadableMessage(delivery, flaws.slice(0, 5).join("; ")), reporter });
    }
    return { read, errors };
  }
}
