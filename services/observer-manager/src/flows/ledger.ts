import { type EventBatch, reportBody, type ServiceEvent, STATE_QUEUE, type StateMessage } from "@unacked/contracts";
import { type Books, InventoryParts } from "../domain/books.ts";
import { signOfLife } from "../domain/sign-of-life.ts";
import { applySingleEvent, applyStateMessage } from "../domain/state-message.ts";
import { type BooksStore, type BooksTransaction, RefusedByDatabase } from "./books-store.ts";
import type { NewError } from "./error-book.ts";
import type { Tally } from "./tally.ts";

/**
 * What comes in: messages of the state queue, in order. It guarantees: each message's events, its runs, observers, commands
 * and the service's last_seq are written in one transaction, or not at all; a message applied before changes nothing.
 * A crash before the commit leaves the messages unacked in the queue; after it, their redelivery is skipped by last_seq.
 */
export class Ledger {
  readonly #store: BooksStore;
  readonly #reporter: string;
  readonly #tally: Tally;
  readonly #inventories = new InventoryParts();

  /** @param reporter this manager, named with the errors it records */
  constructor(store: BooksStore, reporter: string, tally: Tally) {
    this.#store = store;
    this.#reporter = reporter;
    this.#tally = tally;
  }

  /**
   * Applies the messages and records what could not be read. An event that the database will never take (a NUL in a text)
   * is recorded as an error and left out; its neighbours apply.
   * Rejects when the database cannot be reached: then some messages may have been applied, and all can be given again.
   *
   * @param isDead whether that connection of a service is known to be dead, though its certificate has yet to be applied
   * @returns whether commands may have been written, which somebody has to send
   */
  async apply(
    messages: StateMessage[],
    unreadable: Omit<NewError, "reporter">[] = [],
    isDead?: Books["isDead"],
  ): Promise<boolean> {
    const errors = unreadable.map((error) => ({ ...error, reporter: this.#reporter }));
    if (errors.length === 0 && (await this.#isIdleNews(messages))) return false;
    try {
      return await this.#applyTogether(messages, errors, isDead);
    } catch (error) {
      if (!(error instanceof RefusedByDatabase)) throw error;
      await this.#applyTogether([], errors);
      for (const message of messages) await this.#applyAlone(message);
      return true;
    }
  }

  /** When nothing happens, one service at a time says that it lives: by one statement, for there may be thousands of services. */
  async #isIdleNews([message, ...others]: StateMessage[]): Promise<boolean> {
    const sign = message === undefined || others.length > 0 ? undefined : signOfLife(message);
    if (sign === undefined) return false;
    const beganAtMs = performance.now();
    if (!(await this.#store.noteSignOfLife(sign))) return false;
    const tookMs = performance.now() - beganAtMs;
    this.#tally.applied({ messages: 1, tookMs, oldestEventMs: ageOfOldest([sign.batch]), happened: [] });
    return true;
  }

  /** @returns whether it wrote commands */
  async #applyTogether(messages: StateMessage[], errors: NewError[], isDead?: Books["isDead"]): Promise<boolean> {
    if (messages.length + errors.length === 0) return false;
    const beganAtMs = performance.now();
    const { happened, commands } = await this.#store.inTransaction(async (tx) => {
      const books = await tx.loadFor(messages, this.#inventories);
      if (isDead) books.isDead = isDead;
      for (const message of messages) applyStateMessage(books, message);
      await tx.write(books);
      await tx.recordErrors(errors);
      return books;
    });
    const tookMs = performance.now() - beganAtMs;
    this.#tally.applied({ messages: messages.length, tookMs, oldestEventMs: ageOfOldest(messages), happened });
    this.#tally.putAside(errors.map(({ reason }) => reason));
    return commands.size > 0;
  }

  async #applyAlone(message: StateMessage): Promise<void> {
    try {
      await this.#applyTogether([message], []);
    } catch (error) {
      if (!(error instanceof RefusedByDatabase) || message.kind !== "EventBatch") throw error;
      await this.#store.inTransaction((tx) => this.#applySplit(tx, message));
    }
  }

  /** Event by event, each behind a savepoint, in one transaction with the sequence number. */
  async #applySplit(tx: BooksTransaction, batch: EventBatch): Promise<void> {
    const header = await tx.loadFor([batch], this.#inventories);
    if (applyStateMessage(header, { ...batch, events: [] }) === "old") return;
    await tx.write(header);
    for (const event of batch.events) {
      try {
        await tx.savepoint(async () => {
          const books = await tx.loadFor([{ ...batch, events: [event] }], this.#inventories);
          applySingleEvent(books, batch, event);
          await tx.write(books);
        });
      } catch (error) {
        if (!(error instanceof RefusedByDatabase)) throw error;
        await tx.recordErrors([this.#refused(batch, event, error.message)]);
      }
    }
  }

  #refused(batch: EventBatch, event: ServiceEvent, detail: string): NewError {
    const about = "runId" in event ? { observerId: event.observerId, runId: event.runId } : {};
    const body = Buffer.from(JSON.stringify({ ...batch, events: [event] }));
    return {
      reason: "refused-by-database",
      detail,
      queue: STATE_QUEUE,
      messageId: null,
      reporter: this.#reporter,
      ...about,
      ...reportBody(body),
    };
  }
}

function ageOfOldest(messages: StateMessage[]): number | null {
  const times = messages.flatMap((message) => (message.kind === "EventBatch" ? message.events.map(({ at }) => at) : []));
  if (times.length === 0) return null;
  return Math.max(0, Date.now() - times.reduce((oldest, at) => Math.min(oldest, at)));
}
