import type { EventBatch, ServiceEvent, StateMessage } from "@unacked/contracts";
import { InventoryParts } from "../domain/books.ts";
import { applySingleEvent, applyStateMessage } from "../domain/state-message.ts";
import { type BooksStore, RefusedByDatabase } from "./books-store.ts";

/** An event that the database will never take, with the reason. */
export interface RefusedEvent {
  batch: EventBatch;
  event: ServiceEvent;
  reason: string;
}

/**
 * What comes in: messages of the state queue, in order. It guarantees: each message's events, its runs, observers, commands
 * and the service's last_seq are written in one transaction, or not at all; a message applied before changes nothing.
 * A crash before the commit leaves the messages unacked in the queue; after it, their redelivery is skipped by last_seq.
 */
export class Ledger {
  readonly #store: BooksStore;
  readonly #inventories = new InventoryParts();

  constructor(store: BooksStore) {
    this.#store = store;
  }

  /**
   * Applies the messages. Rejects when the database cannot be reached: nothing was applied, try again.
   * @returns the events that had to be left out; they belong in the errors before the messages are acked
   */
  async apply(messages: StateMessage[]): Promise<RefusedEvent[]> {
    try {
      await this.#applyTogether(messages);
      return [];
    } catch (error) {
      if (!(error instanceof RefusedByDatabase)) throw error;
    }
    const refused: RefusedEvent[] = [];
    for (const message of messages) refused.push(...(await this.#applyAlone(message)));
    return refused;
  }

  async #applyTogether(messages: StateMessage[]): Promise<void> {
    await this.#store.inTransaction(async (tx) => {
      const books = await tx.loadFor(messages, this.#inventories);
      for (const message of messages) applyStateMessage(books, message);
      await tx.write(books);
    });
  }

  async #applyAlone(message: StateMessage): Promise<RefusedEvent[]> {
    try {
      await this.#applyTogether([message]);
      return [];
    } catch (error) {
      if (!(error instanceof RefusedByDatabase) || message.kind !== "EventBatch") throw error;
      return this.#applySplit(message);
    }
  }

  /** Event by event, each behind a savepoint; the sequence number is written with the first, so it is one transaction still. */
  async #applySplit(batch: EventBatch): Promise<RefusedEvent[]> {
    return this.#store.inTransaction(async (tx) => {
      const refused: RefusedEvent[] = [];
      const header = await tx.loadFor([batch], this.#inventories);
      if (applyStateMessage(header, { ...batch, events: [] }) === "old") return refused;
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
          refused.push({ batch, event, reason: error.message });
        }
      }
      return refused;
    });
  }
}
