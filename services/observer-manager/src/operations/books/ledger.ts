import { newMessageId, type ObserverId, type RunId, reportBody, STATE_QUEUE } from "@unacked/contracts";
import type { Books } from "../../domain/books/books.ts";
import { InventoryParts } from "../../domain/books/inventory-parts.ts";
import {
  type ReceivedBatch,
  type ReceivedMessage,
  signOfLife,
  type Unapplied,
} from "../../domain/books/received-message.ts";
import { sideBySide } from "../../domain/books/side-by-side.ts";
import { applySingleEvent, applyStateMessage } from "../../domain/books/state-message.ts";
import { allInOrder } from "../all-in-order.ts";
import type { Tally } from "../tally.ts";
import { type BooksStore, type BooksTransaction, isForGood, type KeptEvent, type NewError } from "./books-store.ts";

/** What a transaction did, for metrics: told once it has committed. */
interface Done extends Pick<Books, "happened" | "unapplied"> {
  readonly errors: readonly NewError[];
}

/**
 * What comes in: messages of the state queue, each service's in order, each observer's too. It guarantees: each message's events, its runs, observers, commands
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
    messages: ReceivedMessage[],
    unreadable: Omit<NewError, "reporter">[] = [],
    isDead?: Books["isDead"],
  ): Promise<boolean> {
    const errors = unreadable.map((error) => ({ ...error, reporter: this.#reporter }));
    if (errors.length === 0 && (await this.#isIdleNews(messages))) return false;
    const parts = errors.length > 0 ? [messages] : sideBySide(messages);
    const wroteCommands = await allInOrder(parts.map((part) => this.#applyPart(part, errors, isDead)));
    return wroteCommands.includes(true);
  }

  /** Applies them in one transaction, else each by itself. @returns whether it may have written commands that are to be sent */
  async #applyPart(messages: ReceivedMessage[], errors: NewError[], isDead?: Books["isDead"]): Promise<boolean> {
    try {
      return await this.#applyTogether(messages, errors, isDead);
    } catch (error) {
      if (!isForGood(error)) throw error;
      await this.#applyTogether([], errors);
      for (const message of messages) await this.#applyAlone(message, isDead);
      return true;
    }
  }

  /** When nothing happens, one service at a time says that it lives: by one statement, for there may be thousands of services. */
  async #isIdleNews([message, ...others]: ReceivedMessage[]): Promise<boolean> {
    const sign = message === undefined || others.length > 0 ? undefined : signOfLife(message);
    if (sign === undefined) return false;
    const beganAtMs = performance.now();
    if (!(await this.#store.noteSignOfLife(sign))) return false;
    const tookMs = performance.now() - beganAtMs;
    this.#tally.applied({ messages: 1, tookMs, oldestEventMs: ageOfOldest([sign.batch]), happened: [] });
    return true;
  }

  /** @returns whether it wrote commands that are to be sent */
  async #applyTogether(messages: ReceivedMessage[], errors: NewError[], isDead?: Books["isDead"]): Promise<boolean> {
    if (messages.length + errors.length === 0) return false;
    const beganAtMs = performance.now();
    const { happened, commands, unapplied } = await this.#store.inTransaction(async (tx) => {
      const books = await tx.loadFor(messages, this.#inventories);
      if (isDead) books.isDead = isDead;
      for (const message of messages) applyStateMessage(books, message);
      await this.#write(tx, books);
      await tx.recordErrors(errors);
      return books;
    });
    this.#committed(messages, { beganAtMs, happened, unapplied, errors });
    return [...commands.values()].some((change) => "want" in change);
  }

  /** Applies it whole, else what of it can be applied, else records it as an error: what is behind it in the queue must get its turn. */
  async #applyAlone(message: ReceivedMessage, isDead?: Books["isDead"]): Promise<void> {
    try {
      await this.#applyTogether([message], [], isDead);
    } catch (error) {
      if (!isForGood(error)) throw error;
      await this.#applyUnderstood(message, error, isDead);
    }
  }

  async #applyUnderstood(message: ReceivedMessage, whole: Error, isDead?: Books["isDead"]): Promise<void> {
    try {
      if (message.kind !== "EventBatch") throw whole;
      const beganAtMs = performance.now();
      const done = await this.#store.inTransaction((tx) => this.#applySplit(tx, message, isDead));
      this.#committed([message], { beganAtMs, ...done });
    } catch (error) {
      if (!isForGood(error)) throw error;
      await this.#applyTogether([], [this.#refused(message, error.message)]);
    }
  }

  /** Applies event by event, each behind a savepoint, in one transaction with the sequence number. */
  async #applySplit(tx: BooksTransaction, batch: ReceivedBatch, isDead: Books["isDead"] = () => false): Promise<Done> {
    const header = await tx.loadFor([batch], this.#inventories);
    const { happened, unapplied } = header;
    const errors: NewError[] = [];
    if (applyStateMessage(header, { ...batch, events: [] }) === "old") return { happened, unapplied, errors };
    await this.#write(tx, header);
    for (const event of batch.events) {
      try {
        const applied = await tx.savepoint(async () => {
          const books = await tx.loadFor([{ ...batch, events: [event] }], this.#inventories);
          books.isDead = isDead;
          applySingleEvent(books, batch, event);
          await tx.write(books);
          return books;
        });
        happened.push(...applied.happened);
      } catch (error) {
        if (!isForGood(error)) throw error;
        errors.push(this.#refused({ ...batch, leftOut: [], events: [event] }, error.message));
      }
    }
    await tx.recordErrors(errors);
    return { happened, unapplied, errors };
  }

  #committed(messages: ReceivedMessage[], { beganAtMs, happened, unapplied, errors }: Done & { beganAtMs: number }): void {
    this.#inventories.committed(messages);
    const tookMs = performance.now() - beganAtMs;
    this.#tally.applied({ messages: messages.length, tookMs, oldestEventMs: ageOfOldest(messages), happened });
    this.#tally.putAside([...errors.map(({ reason }) => reason), ...unapplied.map(() => "unreadable" as const)]);
  }

  async #write(tx: BooksTransaction, books: Books): Promise<void> {
    await tx.write(books);
    if (books.unapplied.length === 0) return;
    const all = books.unapplied.map((one) => ({ isKept: one.isKept, ...this.#notUnderstood(one) }));
    await tx.keepUnapplied(all.filter(({ isKept }) => isKept));
    await tx.recordErrors(all.filter(({ isKept }) => !isKept).map(({ error }) => error));
  }

  #notUnderstood({ batch, reason, observerIds, runId, isKept }: Unapplied): KeptEvent {
    const text = JSON.stringify(batch);
    const error = {
      reason: "unreadable" as const,
      detail: `an event was left out, ${isKept ? "and is kept for a manager that understands it" : "its neighbours apply"}: ${reason}`,
      queue: STATE_QUEUE,
      messageId: newMessageId(),
      reporter: this.#reporter,
      ...(observerIds[0] !== undefined && { observerId: observerIds[0] as ObserverId }),
      ...(runId !== undefined && { runId: runId as RunId }),
      ...reportBody(Buffer.from(text)),
    };
    return { error, observerIds, batch: text };
  }

  #refused(message: ReceivedMessage, detail: string): NewError {
    const [event, ...others] = message.kind === "EventBatch" ? message.events : [];
    const isOne = event !== undefined && others.length === 0 && "runId" in event;
    return {
      reason: "refused-by-database",
      detail,
      queue: STATE_QUEUE,
      messageId: null,
      reporter: this.#reporter,
      ...(isOne && { observerId: event.observerId, runId: event.runId }),
      ...reportBody(Buffer.from(JSON.stringify({ ...message, leftOut: undefined }))),
    };
  }
}

function ageOfOldest(messages: ReceivedMessage[]): number | null {
  const times = messages.flatMap((message) => (message.kind === "EventBatch" ? message.events.map(({ at }) => at) : []));
  if (times.length === 0) return null;
  return Math.max(0, Date.now() - times.reduce((oldest, at) => Math.min(oldest, at)));
}
