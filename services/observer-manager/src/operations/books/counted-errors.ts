import type { Tally } from "../tally.ts";
import type { ErrorBook, NewError } from "./books-store.ts";

/** Records errors for everybody but the ledger's transactions: metrics tell of each, and so does the alert. */
export class CountedErrors implements ErrorBook {
  readonly #book: ErrorBook;
  readonly #tally: Pick<Tally, "putAside">;

  constructor(book: ErrorBook, tally: Pick<Tally, "putAside">) {
    this.#book = book;
    this.#tally = tally;
  }

  async record(errors: NewError[]): Promise<void> {
    await this.#book.record(errors);
    this.#tally.putAside(errors.map(({ reason }) => reason));
  }
}
