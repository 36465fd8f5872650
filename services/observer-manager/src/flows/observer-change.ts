import type { ObserverView, ProblemCode } from "@unacked/contracts";
import type { Books, ObserverBook } from "../domain/books.ts";
import { feedObserver } from "../domain/feed-observer.ts";
import { decide, type ObserverInput } from "../domain/observer-machine.ts";
import { type Deed, doneTo } from "./audit.ts";
import type { BooksTransaction } from "./books-store.ts";
import type { ChangeOutcome, ObserverRef } from "./manager-api.ts";

/**
 * Asks the same of each of these observers, in the order given: rows are locked, decided upon in memory and written by one
 * statement a table, with the deed in the audit trail. Without a deed nothing is written: it is decided only. The views are
 * those that the transaction leaves: once it has committed nothing more has to be read.
 */
export async function changeObservers(
  tx: BooksTransaction,
  refs: ObserverRef[],
  input: ObserverInput,
  deed: Deed | null,
): Promise<ChangeOutcome[]> {
  const { books, ids } = await tx.loadObservers(refs);
  books.traceContext = deed?.by.traceContext;
  const decided = ids.map((id) => {
    const observer = id === undefined ? undefined : books.observers.get(id);
    return observer ? { observer, refusal: ask(books, observer, input) } : undefined;
  });
  const accepted = decided.flatMap((one) => (one && one.refusal === null ? [one.observer.id] : []));
  if (accepted.length > 0 && deed) await tx.write(books);
  const views = await tx.viewObservers(accepted);
  if (accepted.length > 0 && deed)
    await tx.recordDeeds([
      doneTo(
        deed,
        accepted.map((id) => views.get(id) as ObserverView),
      ),
    ]);
  return decided.map((one) => {
    if (!one) return { kind: "problem", code: "observer-not-found" };
    if (one.refusal !== null) return { kind: "problem", code: one.refusal };
    return { kind: "accepted", observer: views.get(one.observer.id) as ObserverView };
  });
}

/** @returns why not, or null when the books hold what came of it */
export function ask(books: Books, observer: ObserverBook, input: ObserverInput): ProblemCode | null {
  const decision = decide(observer.status, input);
  if (decision.kind === "refuse") return decision.problem;
  const run = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  feedObserver(books, observer, input, run);
  return null;
}
