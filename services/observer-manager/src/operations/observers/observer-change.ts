import type { ObserverView, ProblemCode } from "@unacked/contracts";
import type { Books, ObserverBook } from "../../domain/books/books.ts";
import { applyInput } from "../../domain/observers/observer-input.ts";
import { decide, type ObserverInput } from "../../domain/observers/observer-machine.ts";
import { type Action, doneTo } from "../access/audit.ts";
import type { BooksTransaction } from "../books/books-store.ts";
import type { ChangeOutcome, ObserverRef } from "./observer-tools.ts";
import { ROOM_FOR_ALL, type Room, roomFor } from "./room.ts";

/**
 * Asks the same of each of these observers, in the order given: rows are locked, decided upon in memory and written by one
 * statement a table, with the action in the audit trail. Without an action nothing is written: it is decided only. The views are
 * those that the transaction leaves: once it has committed nothing more has to be read.
 */
export async function changeObservers(
  tx: BooksTransaction,
  refs: ObserverRef[],
  input: ObserverInput,
  action: Action | null,
  mustFindWorker = false,
): Promise<ChangeOutcome[]> {
  const { books, ids } = await tx.loadObservers(refs);
  const room = mustFindWorker ? await roomFor(tx, books) : ROOM_FOR_ALL;
  books.traceContext = action?.by.traceContext;
  const decided = ids.map((id) => {
    const observer = id === undefined ? undefined : books.observers.get(id);
    return observer ? { observer, refusal: ask(books, observer, input, room) } : undefined;
  });
  const accepted = decided.flatMap((one) => (one && one.refusal === null ? [one.observer.id] : []));
  if (accepted.length > 0 && action) await tx.write(books);
  const views = await tx.viewObservers(accepted);
  if (accepted.length > 0 && action)
    await tx.recordActions([
      doneTo(
        action,
        accepted.map((id) => views.get(id) as ObserverView),
      ),
    ]);
  return decided.map((one) => {
    if (!one) return { kind: "problem", code: "observer-not-found" };
    if (one.refusal !== null) return { kind: "problem", code: one.refusal };
    return { kind: "accepted", observer: views.get(one.observer.id) as ObserverView };
  });
}

/**
 * @param room only for those that the machine would let run again
 * @returns why not, or null when the books hold what came of it
 */
export function ask(books: Books, observer: ObserverBook, input: ObserverInput, room: Room): ProblemCode | null {
  const asked = input === "resume" && observer.startsLater ? "resume-early" : input;
  const decision = decide(observer.status, asked, observer.pending);
  if (decision.kind === "refuse") return decision.problem;
  const full = room(observer);
  if (full !== null) return full;
  const run = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  applyInput(books, observer, asked, run);
  return null;
}
