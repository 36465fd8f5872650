import { decodeList, StateMessage } from "@unacked/contracts";
import { InventoryParts } from "../../domain/books/inventory-parts.ts";
import { applySingleEvent } from "../../domain/books/state-message.ts";
import type { Log } from "../log.ts";
import { Loop } from "../loop.ts";
import { type BooksStore, isForGood } from "./books-store.ts";

export interface UnappliedEvent {
  /** The messageId of its error. */
  id: string;
  /** Positions are in the order in which the events came. */
  position: string;
  /** The JSON of a batch with this event alone. */
  batch: string;
}

export interface UnappliedStore {
  /** The first `limit` behind that position, or fewer where these are long; none only if there are none. */
  readUnapplied(after: string, limit: number): Promise<UnappliedEvent[]>;
  /** No manager will ever be able to apply it: it stays among the errors alone. */
  giveUp(id: string): Promise<void>;
}

export interface LateEventsParts {
  store: UnappliedStore;
  books: BooksStore;
  /** Told after a commit that may have written commands. */
  committed(): void;
  log: Log;
}

const EVERY_MS = 5_000;
const PAGE = 500;

/**
 * Events that a manager before this one did not understand, and kept: those that this one does are applied. It looks at its start
 * and then every 5 s, as an older manager beside it may keep more; a page at a time, round and round. Each event and the removal
 * of its error are one transaction: a crash leaves both, and of two managers one applies it.
 */
export class LateEvents {
  readonly #parts: LateEventsParts;
  #after = "0";
  readonly #loop = new Loop({ round: () => this.#look(), failed: (error) => this.#failed(error) });

  constructor(parts: LateEventsParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #look(): Promise<number> {
    const { committed, log } = this.#parts;
    const page = await this.#nextPage();
    let applied = 0;
    for (const event of page) {
      if (this.#loop.isStopped) break; // each is a transaction, which a slow database may take a second for
      if (await this.#apply(event)) applied += 1;
    }
    this.#after = page.at(-1)?.position ?? "0";
    if (applied === 0) return EVERY_MS;
    log.info({ event: "late-events", applied }, "events that an older manager did not understand were applied");
    committed();
    return EVERY_MS;
  }

  /** The page behind the last one, or the first once all have been looked at. */
  async #nextPage(): Promise<UnappliedEvent[]> {
    const { store } = this.#parts;
    const page = await store.readUnapplied(this.#after, PAGE);
    return page.length > 0 || this.#after === "0" ? page : store.readUnapplied("0", PAGE);
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "events that were not understood could not be looked at, trying again");
    return EVERY_MS;
  }

  async #apply({ id, batch: text }: UnappliedEvent): Promise<boolean> {
    const { store, books: all } = this.#parts;
    const decoded = decodeList(StateMessage, "events", Buffer.from(text));
    if (!decoded.ok || decoded.leftOut.length > 0 || decoded.value.kind !== "EventBatch") return false;
    const batch = decoded.value;
    try {
      return await all.inTransaction(async (tx) => {
        if (!(await tx.takeUnapplied(id))) return false;
        const books = await tx.loadFor([batch], new InventoryParts());
        for (const event of batch.events) applySingleEvent(books, batch, event);
        await tx.write(books);
        return true;
      });
    } catch (error) {
      if (!isForGood(error)) throw error;
      await store.giveUp(id);
      return false;
    }
  }
}
