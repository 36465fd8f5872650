import type { CreateObserver, ObserverId, ProblemCode } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { decide } from "../../domain/observers/observer-machine.ts";
import { type Action, newAction } from "../access/audit.ts";
import type { BooksStore, BooksTransaction } from "../books/books-store.ts";
import { createTogether } from "../observers/create-together.ts";
import { keepPlaces } from "../observers/kept-places.ts";
import { type LostObserver, readLostObserver } from "../observers/lost-observers.ts";
import { changeObservers } from "../observers/observer-change.ts";
import type { ChangeOutcome, ObserverRef } from "../observers/observer-tools.ts";
import type { Refusal } from "../refusal.ts";
import type { TypeCheck } from "../types/type-check.ts";

export interface ErrorQuery {
  reason?: string;
  group?: string;
  /** A name means every observer that has or had it. */
  observer?: ObserverRef;
  limit: number;
  after?: ErrorPosition;
}

export interface ErrorPosition {
  id: string;
}

export interface ErrorDeskParts {
  store: BooksStore;
  types: TypeCheck;
  isReady(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
}

const notRetryable = (detail: string): Refusal => ({ kind: "problem", code: "not-retryable", detail });

/**
 * What operators do about an entry of the errors. A retry is the restart of the observer that failed, in one transaction
 * with the look at the entry; of an observer that the books do not have, its create from the message in the entry, in the
 * pool that this names: here an operator asks for it. The entry stays, as what happened. A crash before the commit leaves
 * everything as it was.
 */
export class ErrorDesk {
  readonly #parts: ErrorDeskParts;

  constructor(parts: ErrorDeskParts) {
    this.#parts = parts;
  }

  /** Problems: error-not-found, not-retryable, those of a restart and, of an observer that the books lost, of a create. */
  async retryError(id: string, by: Actor): Promise<ChangeOutcome> {
    const { store, isReady, committed } = this.#parts;
    if (!isReady()) return { kind: "problem", code: "not-ready" };
    const action = newAction("error.retry", by, { errorId: id });
    const first = await store.inTransaction(async (tx): Promise<ChangeOutcome | { lostIn: string }> => {
      const error = await tx.findError(id);
      if (!error) return { kind: "problem", code: "error-not-found" };
      if (error.reason === "lost-in-failover")
        return notRetryable("A restart is not what was lost: ask once more for what its text names");
      if (error.observerId === null) return notRetryable("The error is about no observer");
      const outcome = await retry(tx, error.observerId, action);
      const isLost = error.reason === "unknown-observer" && isProblem(outcome, "observer-not-found");
      return isLost ? { lostIn: error.body } : outcome;
    });
    const outcome = "lostIn" in first ? await this.#recordLost(first.lostIn, action) : first;
    if (outcome.kind === "accepted") committed();
    return outcome;
  }

  async #recordLost(body: string, action: Action): Promise<ChangeOutcome> {
    const decoded = readLostObserver(body);
    if (!decoded.ok) return notRetryable(`Its message is not that of an observer: ${decoded.reason}`);
    const { start, request, observer }: LostObserver = decoded.value;
    const { store, types } = this.#parts;
    const outcome = await store.inTransaction(async (tx) => {
      const check = (requests: CreateObserver[]) => types.check(requests, tx.types);
      const [created] = await createTogether(tx, [{ request, observer, action }], { check });
      if (created?.kind === "created") await keepPlaces(tx, [start]);
      return created;
    });
    if (outcome === undefined || outcome.kind === "problem") return outcome ?? notRetryable("It could not be recorded");
    return { kind: "accepted", observer: outcome.observer };
  }

  /** Problems: error-not-found. */
  async deleteError(id: string, by: Actor): Promise<{ kind: "deleted" } | Refusal> {
    const action = newAction("error.delete", by);
    const isDeleted = await this.#parts.store.inTransaction(async (tx) => {
      if (!(await tx.deleteError(id))) return false;
      await tx.recordActions([{ action, count: 1, targets: [{ kind: "error", id, name: null }] }]);
      return true;
    });
    return isDeleted ? { kind: "deleted" } : { kind: "problem", code: "error-not-found" };
  }
}

/** What REST asks of errors. */
export type ErrorTools = Pick<ErrorDesk, "retryError" | "deleteError">;

const isProblem = (outcome: ChangeOutcome, code: ProblemCode): boolean =>
  outcome.kind === "problem" && outcome.code === code;

/** An entry stays long after its observer was restarted: one that runs well is not to be disturbed by it. */
async function retry(tx: BooksTransaction, id: ObserverId, action: Action): Promise<ChangeOutcome> {
  const ref: ObserverRef = { kind: "id", id };
  const { books } = await tx.loadObservers([ref]);
  const status = books.observers.get(id)?.status;
  if (status !== undefined && status !== "Failed" && decide(status, "restart").kind !== "refuse")
    return notRetryable(`The observer is not Failed any more, it is ${status}`);
  const [outcome] = await changeObservers(tx, [ref], "restart", action);
  return outcome as ChangeOutcome;
}
