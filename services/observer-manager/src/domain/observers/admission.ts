import type { RunStopReason } from "@unacked/contracts";
import type { Books } from "../books/books.ts";
import type { ObserverBook } from "../books/observer-book.ts";
import type { RunBook } from "../books/run-book.ts";
import { catchUpWithRevision, giveWay, isTakenBackFor, revive, type Source } from "./current-run.ts";
import { applyInput } from "./observer-input.ts";
import { FENCING_TOKEN_STEP, supersede } from "./run-fate.ts";

/**
 * A run asks whether its handler may start (docs/decisions/0020-admission.md). It is admitted, or told to stop; until it has said
 * RunStarted, or RunRetrying as it waits for a slot, it is not the observer's own, whatever run may be so now. Safe to repeat: who asks again is answered again, with the same fencing token.
 */
export function answerRequest(books: Books, observer: ObserverBook, run: RunBook, source: Source): void {
  if (run.state === "Current") return; // it has begun since, or waits for a slot
  if (run.state === "Ended") revive(books, run, source);
  const why = whyNot(books, observer, run);
  if (why !== undefined) return supersede(books, run, why);
  catchUpWithRevision(books, observer, run);
  const before = observer.requestedRunId === null ? undefined : books.runs.get(observer.requestedRunId);
  applyInput(books, observer, "run-requested", run);
  if (before !== undefined && observer.requestedRunId !== before.id) leaveBehind(books, before, run);
}

/** Why it cannot be the observer's own, whatever the observer's status; undefined: it can. */
function whyNot(books: Books, observer: ObserverBook, run: RunBook): RunStopReason | undefined {
  if (run.revision < observer.revision) return "obsolete";
  for (const id of [observer.currentRunId, observer.requestedRunId]) {
    const other = id === null || id === run.id ? undefined : books.runs.get(id);
    // A count may begin again at 0 when somebody moves messages to another queue; a dead one's must not stand in the way.
    if (other === undefined || other.revision < run.revision || books.isDead(other)) continue;
    if (other.messageId !== run.messageId) return "duplicate";
    if (isTakenBackFor(run, other)) return "taken-back";
  }
  return undefined;
}

/** The run asked before, and its message is another run's now. A run that still holds it asks once more. */
function leaveBehind(books: Books, before: RunBook, run: RunBook): void {
  if (before.revision < run.revision) supersede(books, before, "obsolete");
  else giveWay(books, before, run);
}

/** No clock gives a higher one, and 10^11 admissions more are below what a `number` can count. */
const HIGHEST_TOLD = 8_640_000_000_000_000;

/**
 * Whether these books can have given it, or those that an older dump has replaced. A wrong number must leave the next ones room to be
 * higher.
 */
export const isGiven = (observer: Pick<ObserverBook, "fencingToken">, fencingToken: number): boolean =>
  fencingToken <= Math.max(HIGHEST_TOLD, (observer.fencingToken ?? 0) + FENCING_TOKEN_STEP);

/** Books that are behind what they hear, after a restore, take it over: the next token is higher than any that was given. */
export function noteFencingToken(
  books: Books,
  observer: ObserverBook,
  run: RunBook,
  fencingToken: number | undefined,
): void {
  if (fencingToken === undefined || !isGiven(observer, fencingToken)) return;
  if (run.fencingToken !== fencingToken) {
    run.fencingToken = fencingToken;
    books.changedRuns.add(run);
  }
  if (fencingToken <= (observer.fencingToken ?? 0)) return;
  observer.fencingToken = fencingToken;
  books.changedObservers.add(observer);
}
