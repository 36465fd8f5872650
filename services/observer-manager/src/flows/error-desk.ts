import type { ObserverId } from "@unacked/contracts";
import type { Actor } from "../domain/actor.ts";
import { decide } from "../domain/observer-machine.ts";
import { type Deed, newDeed } from "./audit.ts";
import type { BooksStore, BooksTransaction } from "./books-store.ts";
import type { ChangeOutcome, ErrorTools, ObserverRef, Refusal } from "./manager-api.ts";
import { changeObservers } from "./observer-change.ts";

export interface ErrorDeskParts {
  store: BooksStore;
  isReady(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
}

const notRetryable = (detail: string): Refusal => ({ kind: "problem", code: "not-retryable", detail });

/**
 * What operators do about an entry of the errors. A retry is the restart of the observer that failed, in one transaction
 * with the look at the entry; the entry stays, as what happened. A crash before the commit leaves everything as it was.
 */
export class ErrorDesk implements ErrorTools {
  readonly #parts: ErrorDeskParts;

  constructor(parts: ErrorDeskParts) {
    this.#parts = parts;
  }

  async retryError(id: string, by: Actor): Promise<ChangeOutcome> {
    const { store, isReady, committed } = this.#parts;
    if (!isReady()) return { kind: "problem", code: "not-ready" };
    const outcome = await store.inTransaction(async (tx): Promise<ChangeOutcome> => {
      const error = await tx.findError(id);
      if (!error) return { kind: "problem", code: "error-not-found" };
      return error.observerId === null
        ? notRetryable("The error is about no observer")
        : retry(tx, error.observerId, newDeed("error.retry", by, { errorId: id }));
    });
    if (outcome.kind === "accepted") committed();
    return outcome;
  }

  async deleteError(id: string, by: Actor): Promise<{ kind: "deleted" } | Refusal> {
    const deed = newDeed("error.delete", by);
    const isDeleted = await this.#parts.store.inTransaction(async (tx) => {
      if (!(await tx.deleteError(id))) return false;
      await tx.recordDeeds([{ deed, count: 1, targets: [{ kind: "error", id, name: null }] }]);
      return true;
    });
    return isDeleted ? { kind: "deleted" } : { kind: "problem", code: "error-not-found" };
  }
}

/** An entry stays long after its observer was restarted: one that runs well is not to be disturbed by it. */
async function retry(tx: BooksTransaction, id: ObserverId, deed: Deed): Promise<ChangeOutcome> {
  const ref: ObserverRef = { kind: "id", id };
  const { books } = await tx.loadObservers([ref]);
  const status = books.observers.get(id)?.status;
  if (status !== undefined && status !== "Failed" && decide(status, "restart").kind !== "refuse")
    return notRetryable(`The observer is not Failed any more, it is ${status}`);
  const [outcome] = await changeObservers(tx, [ref], "restart", deed);
  return outcome as ChangeOutcome;
}
