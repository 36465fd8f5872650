import { decodeBody, StartObserver } from "@unacked/contracts";
import type { BooksStore, NewObserver } from "./books-store.ts";
import type { ErrorBook, NewError } from "./error-book.ts";
import type { Log } from "./log.ts";
import type { Tally } from "./tally.ts";

export interface ReadoptionParts {
  store: BooksStore;
  errors: ErrorBook;
  retentionMs: number;
  /** Told after a commit that wrote a command. */
  committed(): void;
  tally: Tally;
  log: Log;
}

/**
 * What comes in: error reports. A run that the books did not know was stopped, and its message is in the report. If the
 * observer was created within the retention, the books have lost it (restored from an older backup, say): it is recorded
 * and started again with a higher revision. Older ones were removed on purpose and stay among the errors, as all others do.
 * Safe to repeat: an observer that is there is not inserted twice.
 */
export class Readoption implements ErrorBook {
  readonly #parts: ReadoptionParts;

  constructor(parts: ReadoptionParts) {
    this.#parts = parts;
  }

  async record(errors: NewError[]): Promise<void> {
    const lost: NewObserver[] = [];
    const others: NewError[] = [];
    for (const error of errors) {
      const observer = error.reason === "unknown-observer" ? this.#lostObserver(error) : null;
      if (observer) lost.push(observer);
      else others.push(error);
    }
    await this.#parts.errors.record(others);
    this.#parts.tally.putAside(others.map(({ reason }) => reason));
    if (lost.length === 0) return;
    const recorded = await this.#parts.store.inTransaction((tx) => tx.insertObservers(lost));
    this.#parts.log.warn(
      {
        event: "readopted",
        reported: lost.length,
        recorded: recorded.size,
        names: lost.slice(0, 20).map(({ name }) => name),
      },
      "services ran observers that the books had lost: recorded and started again",
    );
    this.#parts.committed();
  }

  #lostObserver({ body }: NewError): NewObserver | null {
    const decoded = decodeBody(StartObserver, Buffer.from(body));
    if (!decoded.ok) return null;
    const { observerId: id, revision, name, type, params, labels, pool, retry, createdAt } = decoded.value;
    const ageMs = Date.now() - Date.parse(createdAt);
    if (!(ageMs < this.#parts.retentionMs)) return null;
    return { id, name, type, params, labels, pool, retry, revision: revision + 1, createdAt };
  }
}
