import type { ObserverFilter, ObserverView, ProblemCode } from "@unacked/contracts";
import type { Books } from "../../domain/books/books.ts";
import type { ObserverBook } from "../../domain/books/observer-book.ts";
import type { RunBook } from "../../domain/books/run-book.ts";
import { applyInput } from "../../domain/observers/observer-input.ts";
import { decide, type ObserverInput } from "../../domain/observers/observer-machine.ts";
import { isBehind } from "../../domain/observers/spec-change.ts";
import { type Action, doneTo } from "../access/audit.ts";
import type { BooksTransaction } from "../books/books-store.ts";
import type { ChangeOutcome, ObserverRef } from "./observer-tools.ts";
import { ROOM_FOR_ALL, type Room, roomFor } from "./room.ts";

/**
 * Asks the same of each of these observers, in the order given: rows are locked, decided upon in memory and written by one statement a
 * table, with the action in the audit trail. Without an action nothing is written: it is decided only. The views are those that the
 * transaction leaves: once it has committed nothing more has to be read.
 * @param among with ids: one that does not match it is not found
 */
export async function changeObservers(
  tx: BooksTransaction,
  refs: ObserverRef[],
  input: ObserverInput,
  action: Action | null,
  { mustFindWorker = false, among }: { mustFindWorker?: boolean; among?: ObserverFilter | undefined } = {},
): Promise<ChangeOutcome[]> {
  const { books, ids } = await tx.loadObservers(refs, among);
  const room = mustFindWorker ? await roomFor(tx, books) : ROOM_FOR_ALL;
  books.traceContext = action?.by.traceContext;
  const decided = ids.map((id) => {
    const observer = id === undefined ? undefined : books.observers.get(id);
    return observer ? { observer, asked: ask(books, observer, input, room) } : undefined;
  });
  const accepted = decided.flatMap((one) => (one && "changes" in one.asked ? [{ ...one.asked, id: one.observer.id }] : []));
  if (accepted.length > 0 && action) await tx.write(books);
  const views = await tx.viewObservers(accepted.map(({ id }) => id));
  // One may be meant twice, by its id and by its name.
  const changed = new Set(accepted.flatMap(({ id, changes }) => (changes ? [id] : [])));
  if (changed.size > 0 && action)
    await tx.recordActions([
      doneTo(
        action,
        [...changed].map((id) => views.get(id) as ObserverView),
      ),
    ]);
  return decided.map((one) => {
    if (!one) return { kind: "problem", code: "observer-not-found" };
    if ("problem" in one.asked) return { kind: "problem", code: one.asked.problem };
    return { kind: "accepted", observer: views.get(one.observer.id) as ObserverView };
  });
}

/** `problem`: why not. `changes`: whether it was not so already. */
type Asked = { problem: ProblemCode } | { changes: boolean };

/**
 * What came of it is in the books.
 * @param room only for those that the machine would let run again
 */
export function ask(books: Books, observer: ObserverBook, input: ObserverInput, room: Room): Asked {
  const current = observer.currentRunId === null ? undefined : books.runs.get(observer.currentRunId);
  const asked = standingInput(observer, input, current);
  const decision = decide(observer.status, asked, observer.pending);
  if (decision.kind === "refuse") return decision;
  const full = room(observer);
  if (full !== null) return { problem: full };
  if (input === "restart") observer.rejectedUpdate = null;
  applyInput(books, observer, asked, current);
  return { changes: decision.kind === "go" || decision.actions.length > 0 };
}

/** The input that is meant, where the books know more than the status says. */
function standingInput(observer: ObserverBook, input: ObserverInput, run: RunBook | undefined): ObserverInput {
  if (input === "resume") return resumptionOf(observer, run);
  // In place it would begin again with what it keeps; who restarts it wants the newest.
  if (input === "restart" && observer.rejectedUpdate !== null && run !== undefined && observer.pending === null)
    return observer.status === "OnDeleting" ? input : "update";
  return input === "delete" && observer.requestedRunId !== null ? "delete-asking" : input;
}

function resumptionOf(observer: ObserverBook, run: RunBook | undefined): ObserverInput {
  if (observer.pending === "pause" && isBehind(observer, run)) return "resume-changed";
  return observer.startsLater ? "resume-early" : "resume";
}
